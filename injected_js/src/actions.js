/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { assign, cut, doc, fold, is, matches, tagOf } from './dom.js';
import { pause, tapPoint } from './hit.js';
import { pressKey, scrollBy } from './page.js';
import { ready } from './prepare.js';
import { failure, resolve } from './refs.js';
import { checkedOf, valueOf } from './states.js';

/** Event types in their order, on one element. */
const gesture = (el, types, { x, y }, more) =>
  types.split(' ').every((type) => {
    const Kind = /^p/.test(type) ? PointerEvent : /input$/.test(type) ? InputEvent : /^dr/.test(type) ? DragEvent : MouseEvent;
    // The element's own click runs its activation behaviour as well as the handlers.
    if (type == 'click' && el.click) return el.click(), 1;
    const go = el.dispatchEvent(new Kind(type, assign({ bubbles: !/enter$/.test(type), cancelable: type != 'input', composed: true, view: window, clientX: x, clientY: y, pointerId: 1, pointerType: 'touch', isPrimary: true, buttons: +/down|move/.test(type) }, more)));
    if (go && type == 'mousedown') el.focus();
    return go || type != 'beforeinput';
  });

const DOWN = 'pointerdown mousedown', UP = 'pointerup mouseup', CLICK = DOWN + ' ' + UP + ' click';

/** Past what a framework put on the instance, so that its own change tracking notices. */
const setValue = (el, value) => {
  let proto = el, own;
  while (!((proto = Object.getPrototypeOf(proto)), (own = Object.getOwnPropertyDescriptor(proto, 'value'))));
  own.set.call(el, value);
};

const changed = (el) => el.dispatchEvent(new Event('change', { bubbles: true }));

const FORMS = { date: 'YYYY-MM-DD', time: 'HH:MM', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM', week: 'YYYY-Www', color: '#rrggbb', number: 'a number', range: 'a number' };

const write = (el, text, add) => {
  const { type, value, max, min } = el, wanted = FORMS[type], want = add ? value + text : text, event = { data: text, inputType: 'insertText' };
  el.focus();
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (add) selection.collapseToEnd();
    doc.execCommand(text ? 'insertText' : 'delete', false, text);
  } else if (gesture(el, 'beforeinput', 0, event)) {
    setValue(el, want);
    const got = el.value;
    if (wanted && want && (/^a/.test(wanted) ? !got || +got != want : type == 'color' ? got != want.toLowerCase() : !got)) {
      setValue(el, value);
      return failure('invalid_value', `${type} takes ${wanted}` + (max ? ` from ${min} to ${max}` : ''), { wanted });
    }
    gesture(el, 'input', 0, event);
    changed(el);
  }
};

const check = async (want, el, at) => {
  const before = checkedOf(el);
  if (before === want) return;
  if (before != null && (want || el.type != 'radio')) gesture(at._on, CLICK, at);
  await pause();
  if (checkedOf(el) !== want) return failure(want ? 'not_checkable' : 'not_uncheckable', before == null ? 'not a checkbox, radio or switch' : 'it did not change when clicked');
};

const ACTIONS = {
  click: (el, at) => gesture(at._on, CLICK, at),
  double_click: (el, at) => gesture(at._on, `${CLICK} ${CLICK} dblclick`, at, { detail: 2 }),
  async long_press(el, at) {
    gesture(at._on, DOWN, at);
    await pause(600);
    gesture(at._on, 'contextmenu ' + UP, at);
  },
  fill: (el, at, { value, text }) => write(el, '' + (value == null ? text : value)),
  type: (el, at, { value, text }) => write(el, '' + (value == null ? text : value), 1),
  clear: (el) => write(el, ''),
  check: (el, at) => check(true, el, at),
  uncheck: (el, at) => check(false, el, at),
  select(el, at, { value, values }) {
    if (tagOf(el) != 'select') return failure('not_a_select_element', 'it is not a select element');
    const all = [...el.options], chosen = new Set();
    for (const want of [].concat(values || value)) {
      const option = all.find((it) => it.value == want && !it.disabled) || all.find((it) => fold(it.label) == fold(want) && !it.disabled);
      if (!option) return failure('no_such_option', `no option "${cut(fold(want), 60)}"`, { options: all.slice(0, 50).map((it) => cut(fold(it.label), 60)) });
      chosen.add(option);
    }
    for (const option of all) option.selected = chosen.has(option);
    gesture(el, 'input', 0);
    changed(el);
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
    const goal = resolve(to), over = goal.el, dataTransfer = new DataTransfer();
    if (!over) return goal;
    const end = tapPoint(over), drop = (on, types) => el.draggable && gesture(on, types, end, { dataTransfer });
    gesture(el, DOWN, at);
    drop(el, 'dragstart');
    gesture(over, 'pointermove mousemove', end);
    drop(over, 'dragenter dragover drop');
    gesture(over, UP, end);
    drop(el, 'dragend');
  },
};

export const action = async (ref, name, params = {}) => {
  const act = ACTIONS[name], at = act ? await ready(ref, name, { timeoutMs: params.timeoutMs || 300, hit: /click|_press|check|drag|hover/.test(name) }) : failure('unknown_action', name + ' is not an action');
  const el = at._el, { error } = (el && (await act(el, at, params))) || at;
  const done = { success: !error, action: name, ref };
  if (error) done.error = error;
  else if (matches(el, 'input,textarea,select') || el.isContentEditable) done.value = valueOf(el);
  if (!error && tagOf(el) == 'select') done.values = [...el.selectedOptions].map((it) => fold(it.label));
  if (!error && checkedOf(el) != null) done.checked = checkedOf(el);
  return done;
};
