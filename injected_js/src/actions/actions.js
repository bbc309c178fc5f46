/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { assign, boxOf, doc, low, tagOf, words } from '../core/dom.js';
import { inspect } from '../core/actionability.js';
import { BUBBLING, pressKey } from './keys_and_scrolling.js';
import { failure } from '../core/failure.js';
import { checkedOf, foldLabels, valueOf, valuesOf } from '../core/states.js';

const DOWN = 'pointerdown mousedown ', UP = 'pointerup mouseup', CLICK = DOWN + UP + ' click';

/** What a finger in the middle of the element would say. */
const pointed = (el, type) => {
  const { x, y, width, height } = boxOf(el), clientX = x + width / 2, clientY = y + height / 2;
  return assign({ view: window, detail: +/click$/.test(type), clientX, clientY, screenX: screenX + clientX, screenY: screenY + clientY, pointerId: 1, pointerType: 'touch', isPrimary: true }, BUBBLING);
};

/** Events of these types, in their order. */
const fire = (el, types) => {
  if (IS_STANDALONE) el.scrollIntoView({ block: 'center', behavior: 'instant' });
  for (const type of words(types))
    // The element's own click runs its activation behaviour as well as the handlers.
    if (type == 'click' && el.click && !IS_STANDALONE) el.click();
    else {
      if (type == 'mousedown') el.focus();
      el.dispatchEvent(new (/put|cha/.test(type) ? Event : PointerEvent)(type, IS_STANDALONE ? pointed(el, type) : BUBBLING));
    }
};

const write = (add) => (el, { value = '' }) => {
  el.focus();
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (add) selection.collapseToEnd();
    doc.execCommand(value ? 'insertText' : 'delete', false, value);
  } else {
    const { type, min, max, value: old } = el, want = (add ? old : '') + value;
    // Past what a framework put on the instance, so that its own change tracking notices.
    const set = (value) => el.__proto__.__lookupSetter__('value').call(el, value);
    set(want);
    const got = el.value;
    // A control that sanitizes what it is given (HTML §4.10.5.1) has refused it; the caller says which form it takes.
    if (want && (!got || (/color|range/.test(type) && got != low(want)))) {
      set(old);
      return failure('invalid_value', { type, min, max });
    }
    fire(el, 'input change');
  }
};

const check = (want) => (el, params, on, before = checkedOf(el)) => {
  if (before != null && before != want) fire(on, CLICK);
  if (checkedOf(el) !== want) return failure(`not_${want ? '' : 'un'}checkable`);
};

/** Events for the element, or what to do with it. */
const ACTIONS = {
  __proto__: null,
  click: CLICK,
  double_click: `${CLICK} ${CLICK} dblclick`,
  long_press: DOWN + 'contextmenu ' + UP,
  hover: 'pointerover mouseover mouseenter mousemove',
  fill: write(),
  type: write(1),
  clear: write(),
  check: check(true),
  uncheck: check(false),
  select(el, { value, values = [value] }) {
    if (tagOf(el) != 'select') return failure('not_a_select_element');
    const all = [...el.options], free = all.filter((it) => !it.disabled), chosen = [];
    for (const want of values) {
      const option = free.find((it) => it.value == want) || free.find((it) => low(it.label) == low(want));
      if (!option) return failure('no_such_option', { want, options: foldLabels(all) });
      chosen.push(option);
    }
    for (const option of all) option.selected = chosen.includes(option);
    fire(el, 'input change');
  },
  focus: (el) => el.focus(),
  scroll_into_view: (el, params, on) => on.scrollIntoView({ block: 'center' }),
  press(el, { key }) {
    el.focus();
    pressKey(key);
  },
};

/** @type {(ref: string, action: string, params?: object) => any} */
export const action = (ref, action, params = {}) => {
  const act = ACTIONS[action], el = act ? __agentBrowser.element(ref) : failure('unknown_action'), isFound = el instanceof Element, { _on, _code } = isFound ? inspect(el, action) : {};
  const { error } = !isFound ? el : (_code ? failure(_code) : act.big ? fire(_on, act) : act(el, params, _on)) || {};
  return assign({ success: !error, action, ref, error }, !error && { value: valueOf(el), values: valuesOf(el), checked: checkedOf(el) });
};
