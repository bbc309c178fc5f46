/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { assign, doc, fold, low, tagOf } from './dom.js';
import { pause, tapPoint } from './hit.js';
import { pressKey, scrollBy } from './page.js';
import { ready } from './prepare.js';
import { failure, resolve } from './refs.js';
import { checkedOf, valueOf } from './states.js';

/** Event types in their order, on one element; false when `beforeinput` was refused. */
const gesture = (el, types, at, more) =>
  types.split(' ').every((type) => {
    const Kind = /^p/.test(type) ? PointerEvent : /input/.test(type) ? InputEvent : /^dr/.test(type) ? DragEvent : type == "change" ? Event : MouseEvent;
    // The element's own click runs its activation behaviour as well as the handlers.
    if (type == 'click' && el.click) return el.click(), 1;
    const go = el.dispatchEvent(new Kind(type, assign({ bubbles: true, cancelable: type != 'input', composed: true, view: window, clientX: at.x, clientY: at.y, pointerId: 1, pointerType: 'touch', isPrimary: true, buttons: +/down|move/.test(type) }, more)));
    if (go && type == 'mousedown') el.focus();
    return go || type != 'beforeinput';
  });

const DOWN = 'pointerdown mousedown', UP = 'pointerup mouseup', CLICK = `${DOWN} ${UP} click`;

const FORMS = { date: 'YYYY-MM-DD', time: 'HH:MM', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM', week: 'YYYY-Www', color: '#rrggbb', number: 'a number', range: 'a number' };

const write = (el, { value, text = value }, add) => {
  const { type, max, min, value: old } = el, wanted = FORMS[type], want = (add ? old : '') + text, event = { data: text, inputType: 'insertText' };
  // Past what a framework put on the instance, so that its own change tracking notices.
  const set = (value) => {
    let proto = el, own;
    while (!own) own = Object.getOwnPropertyDescriptor((proto = Object.getPrototypeOf(proto)), 'value');
    own.set.call(el, value);
  };
  el.focus();
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (add) selection.collapseToEnd();
    doc.execCommand(text ? 'insertText' : 'delete', false, text);
  } else if (gesture(el, 'beforeinput', 0, event)) {
    set(want);
    const got = el.value;
    if (wanted && want && (/^a/.test(wanted) ? !got || +got != want : type == 'color' ? got != low(want) : !got)) {
      set(old);
      return failure('invalid_value', `${type} takes ${wanted}` + (max && ` from ${min} to ${max}`), { wanted });
    }
    gesture(el, 'input change', 0, event);
  }
};

const check = async (want, el, at) => {
  const before = checkedOf(el);
  if (before === want) return;
  if (before != null && (want || el.type != 'radio')) gesture(at._on, CLICK, at);
  await pause();
  if (checkedOf(el) !== want) return failure(want ? 'not_checkable' : 'not_uncheckable', before == null ? 'it cannot be checked' : 'a click did not change it');
};

const ACTIONS = {
  click: (el, at) => gesture(at._on, CLICK, at),
  double_click: (el, at) => gesture(at._on, `${CLICK} ${CLICK} dblclick`, at),
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
    if (tagOf(el) != 'select') return failure('not_a_select_element', 'it is not a select element');
    const all = [...el.options].filter((it) => !it.disabled), chosen = [];
    for (const want of values) {
      const option = all.find((it) => it.value == want) || all.find((it) => low(it.label) == low(want));
      if (!option) return failure('no_such_option', `no option "${want}"`, { options: all.slice(0, 50).map((it) => fold(it.label)) });
      chosen.push(option);
    }
    for (const option of el.options) option.selected = chosen.includes(option);
    gesture(el, 'input change', at);
  },
  focus: (el) => el.focus(),
  hover: (el, at) => gesture(el, 'pointerover pointerenter mouseover mouseenter pointermove mousemove', at, { pointerType: 'mouse', buttons: 0 }),
  scroll_into_view() {},
  scroll: (el, at, { direction, amount }) => scrollBy(direction, amount, el),
  press(el, at, { key }) {
    el.focus();
    pressKey(key, el);
  },
  drag(el, at, { to }) {
    const goal = resolve(to), over = goal.el, more = { dataTransfer: new DataTransfer() };
    if (!over) return goal;
    const end = tapPoint(over);
    gesture(el, DOWN + ' dragstart', at, more);
    gesture(over, 'pointermove mousemove dragenter dragover drop ' + UP, end, more);
    gesture(el, 'dragend', end, more);
  },
};

export const action = async (ref, name, params = {}) => {
  const act = ACTIONS[name], at = act ? await ready(ref, name, { timeoutMs: params.timeoutMs || 300, hit: /click|_press|check|drag|hover/.test(name) }) : failure('unknown_action', name + ' is not an action');
  const el = at._el, { error } = (el && (await act(el, at, params))) || at;
  const done = { success: !error, action: name, ref };
  if (error) return assign(done, { error });
  const value = valueOf(el), checked = checkedOf(el);
  return assign(done, value != null && { value }, el.selectedOptions && { values: [...el.selectedOptions].map((it) => fold(it.label)) }, checked != null && { checked });
};
