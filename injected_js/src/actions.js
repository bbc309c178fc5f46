/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { assign, attr, cut, findAll, fold, is, matches, tagOf, textOf } from './dom.js';
import { frame, pause, reveal, standIn, tapPoint } from './hit.js';
import { pressKey, scrollBy } from './page.js';
import { obstacle } from './prepare.js';
import { failure, resolve } from './refs.js';
import { checkedOf, valueOf } from './states.js';
import { newTurn } from './turn.js';

const fire = (el, type, more) => {
  const Kind = /^p/.test(type) ? PointerEvent : /input$/.test(type) ? InputEvent : /^drag|^drop/.test(type) ? DragEvent : type == 'change' ? Event : MouseEvent;
  return el.dispatchEvent(new Kind(type, assign({ bubbles: !/enter$/.test(type), cancelable: type != 'input', composed: true, view: window }, more)));
};

/** A gesture: event types in their order. */
const gesture = (el, types, { x, y }, more) => {
  for (const type of types.split(' ')) {
    const down = type == 'mousedown';
    // The element's own click runs its activation behaviour as well as the handlers.
    if (type == 'click' && el.click) el.click();
    else if (fire(el, type, assign({ clientX: x, clientY: y, pointerId: 1, pointerType: 'touch', isPrimary: true, buttons: /down|move/.test(type) ? 1 : 0 }, more)) && down) el.focus();
  }
};

const CLICK = 'pointerdown mousedown pointerup mouseup click';

/** Past what a framework put on the instance, so that its own change tracking notices. */
const setNative = (el, key, value) => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(el.constructor == Object ? el : document.createElement(tagOf(el))), key).set.call(el, value);

const FORMS = { date: 'YYYY-MM-DD', time: 'HH:MM', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM', week: 'YYYY-Www', color: '#rrggbb', number: 'a number', range: 'a number' };

const write = (el, text, add) => {
  const { type, value } = el, wanted = FORMS[type], want = add ? value + text : text, inputType = text ? 'insertText' : 'deleteContentBackward', event = { data: text, inputType };
  el.focus();
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    if (add) selection.collapseToEnd();
    document.execCommand(text ? 'insertText' : 'delete', false, text);
    return;
  }
  if (!fire(el, 'beforeinput', event)) return;
  setNative(el, 'value', want);
  const got = el.value;
  if (wanted && want && (wanted == 'a number' ? got === '' || +got != +want : type == 'color' ? got != want.toLowerCase() : !got)) {
    setNative(el, 'value', value);
    return failure('invalid_value', `${type} takes ${wanted}` + (el.max ? ` from ${el.min} to ${el.max}` : '') + `, not "${cut(want, 60)}"`, { wanted });
  }
  fire(el, 'input', event);
  fire(el, 'change');
};

const choose = (el, wanted) => {
  if (tagOf(el) != 'select') return failure('not_a_select_element', 'it is not a select element');
  const all = [...el.options], chosen = wanted.map((want) => all.find((option) => option.value == want) || all.find((option) => fold(option.label).toLowerCase() == fold(want).toLowerCase()) || want);
  for (const option of chosen)
    if (!option.tagName || option.disabled) return failure('no_such_option', `there is no enabled option "${cut(option.label || '' + option, 60)}"`, { options: all.slice(0, 50).map(({ label }) => cut(fold(label), 60)) });
  for (const option of all) if (el.multiple) option.selected = chosen.includes(option);
  if (!el.multiple) setNative(el, 'selectedIndex', all.indexOf(chosen[0]));
  fire(el, 'input');
  fire(el, 'change');
};

export const action = async (ref, name, params) => {
  newTurn();
  const p = params || {}, found = resolve(ref), { el } = found, done = { success: true, action: name, ref };
  const fail = ({ error }) => ({ success: false, action: name, ref, error });
  let { text } = p, wrong = found.error ? found : 0;
  if (!is(name, 'click double_click long_press fill type clear check uncheck select focus hover scroll_into_view scroll press drag')) wrong = failure('unknown_action', name + ' is not an action');
  if (wrong) return fail(wrong);
  const trouble = obstacle(el, name), target = standIn(el), checks = /check$/.test(name), to = name == 'check', before = checkedOf(el);
  if (trouble) return fail(failure(trouble[0], `${ref} is ${trouble[1]}`));
  let at = tapPoint(target);
  if (at._outside || name == 'scroll_into_view') {
    reveal(target);
    at = tapPoint(target);
  }
  if (at._by && /click|_press|check|drag/.test(name)) return fail(failure('covered', `${ref} is covered by ${at._by}`));
  if (name == 'click') gesture(target, CLICK, at);
  if (name == 'double_click') gesture(target, `${CLICK} ${CLICK} dblclick`, at, { detail: 2 });
  if (name == 'long_press') {
    gesture(target, 'pointerdown mousedown', at);
    await pause(600);
    gesture(target, 'contextmenu pointerup mouseup', at);
  }
  if (is(name, 'fill type clear')) wrong = write(el, name == 'clear' ? '' : '' + (text == null ? p.value : text), name == 'type');
  if (checks && before !== to) {
    if (before != null && (to || !/radio/.test(el.type + attr(el, 'role')))) gesture(target, CLICK, at);
    await frame();
    if (checkedOf(el) !== to) wrong = failure(to ? 'not_checkable' : 'not_uncheckable', before == null ? 'it is not a checkbox, radio or switch' : 'it did not change when clicked');
  }
  if (name == 'select') wrong = choose(el, [].concat(p.values || p.value));
  if (is(name, 'focus press')) el.focus();
  if (name == 'press') pressKey(p.key, el);
  if (name == 'hover') gesture(target, 'pointerover pointerenter mouseover mouseenter pointermove mousemove', at, { pointerType: 'mouse', buttons: 0 });
  if (name == 'scroll') scrollBy(p.direction, p.amount, el);
  if (name == 'drag') {
    const goal = resolve(p.to);
    if (!goal.el) return fail(goal);
    const end = tapPoint(goal.el), dataTransfer = new DataTransfer(), more = { dataTransfer };
    gesture(el, 'pointerdown mousedown', at);
    if (el.draggable) gesture(el, 'dragstart', at, more);
    gesture(goal.el, 'pointermove mousemove', end);
    if (el.draggable) gesture(goal.el, 'dragenter dragover drop', end, more);
    gesture(goal.el, 'pointerup mouseup', end);
    if (el.draggable) gesture(el, 'dragend', end, more);
  }
  if (wrong) return fail(wrong);
  if (is(name, 'fill type clear press select')) done.value = name == 'select' ? el.value : valueOf(el);
  if (name == 'select') done.values = [...el.selectedOptions].map(({ label }) => fold(label));
  if (checkedOf(el) != null) done.checked = checkedOf(el);
  return done;
};
