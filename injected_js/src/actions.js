/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { assign, doc, fold, is, low, own, tagOf } from './dom.js';
import { pause, tapPoint } from './hit.js';
import { pressKey, scrollBy } from './page.js';
import { ready } from './prepare.js';
import { failure, resolve } from './refs.js';
import { checkedOf, valueOf } from './states.js';

/** Event types in their order, on one element; false when `beforeinput` was refused. */
const gesture = (el, types, at, data) =>
  types.split(' ').every((type) => {
    const Kind = /^p/.test(type) ? PointerEvent : /put/.test(type) ? InputEvent : MouseEvent;
    // The element's own click runs its activation behaviour as well as the handlers.
    if (type == 'click' && el.click) return el.click(), 1;
    const go = el.dispatchEvent(new Kind(type, { bubbles: true, cancelable: type != 'input', composed: true, clientX: at.x, clientY: at.y, pointerId: 1, pointerType: 'touch', isPrimary: true, buttons: +/down|move/.test(type), data, inputType: 'insertText' }));
    if (go && type == 'mousedown') el.focus();
    return go || type != 'beforeinput';
  });

const DOWN = 'pointerdown mousedown', UP = 'pointerup mouseup', CLICK = `${DOWN} ${UP} click`, CHANGE = 'input change';

const write = (el, { value, text = value }, add) => {
  const { type, value: old } = el, want = (add ? old : '') + text;
  // Past what a framework put on the instance, so that its own change tracking notices.
  const set = (value) => own((tagOf(el) == 'input' ? HTMLInputElement : HTMLTextAreaElement).prototype, 'value').set.call(el, value);
  el.focus();
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (add) selection.collapseToEnd();
    doc.execCommand(text ? 'insertText' : 'delete', false, text);
  } else if (gesture(el, 'beforeinput', 0, text)) {
    set(want);
    const got = el.value;
    // A control that sanitizes what it is given (HTML §4.10.5.1) has refused it; the caller says which form it takes.
    if (want && (!got || (is(type, 'color range') && +got != want && got != low(want)))) {
      set(old);
      return failure('invalid_value', undefined, { type, min: el.min, max: el.max });
    }
    gesture(el, CHANGE, 0, text);
  }
};

const check = async (want, el, at) => {
  const before = checkedOf(el);
  if (before === want) return;
  if (before != null && (want || el.type != 'radio')) gesture(at._on, CLICK, at);
  await pause();
  if (checkedOf(el) !== want) return failure(want ? 'not_checkable' : 'not_uncheckable');
};

const ACTIONS = {
  __proto__: null,
  click: CLICK,
  double_click: `${CLICK} ${CLICK} dblclick`,
  async long_press(el, at) {
    gesture(at._on, DOWN, at);
    await pause(600);
    gesture(at._on, 'contextmenu ' + UP, at);
  },
  fill: (el, at, p) => write(el, p),
  type: (el, at, p) => write(el, p, 1),
  clear: (el) => write(el, { text: '' }),
  check: (el, at) => check(true, el, at),
  uncheck: (el, at) => check(false, el, at),
  select(el, at, { value, values = [value] }) {
    if (tagOf(el) != 'select') return failure('not_a_select_element');
    const all = [...el.options].filter((it) => !it.disabled), chosen = [];
    for (const want of values) {
      const option = all.find((it) => it.value == want) || all.find((it) => low(it.label) == low(want));
      if (!option) return failure('no_such_option', `no option "${want}"`, { options: [...el.options].slice(0, 50).map((it) => fold(it.label)) });
      chosen.push(option);
    }
    for (const option of el.options) option.selected = chosen.includes(option);
    gesture(el, CHANGE, at);
  },
  focus: (el) => el.focus(),
  hover: 'pointerover pointerenter mouseover mouseenter pointermove mousemove',
  scroll_into_view() {},
  scroll: (el, at, { direction, amount }) => scrollBy(direction, amount, el),
  press(el, at, { key }) {
    el.focus();
    pressKey(key, el);
  },
  drag(el, at, { to }) {
    const goal = resolve(to);
    if (!goal.el) return goal;
    gesture(el, DOWN, at);
    gesture(goal.el, 'pointermove mousemove ' + UP, tapPoint(goal.el));
  },
};

export const action = async (ref, name, params = {}) => {
  const act = ACTIONS[name], at = act ? await ready(ref, name, { timeoutMs: params.timeoutMs || 300, hit: /click|_press|check|drag|hover/.test(name) }) : failure('unknown_action', name);
  const el = at._el, { error } = (el && (act.big ? gesture(at._on, act, at) : await act(el, at, params))) || at, done = { success: !error, action: name, ref, error };
  return el && !error ? assign(done, { value: valueOf(el), values: el.selectedOptions && [...el.selectedOptions].map((it) => fold(it.label)), checked: checkedOf(el) }) : done;
};
