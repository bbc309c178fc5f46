/** Actions done by script: form controls through their own setters, and the stand-alone script's synthetic gestures. */
import { attr, cut, fold, findAll, tagOf, textOf } from './dom.js';
import { frame, pause, standIn, tapPoint } from './hit.js';
import { checkedOf, valueOf } from './states.js';
import { failure, resolve } from './refs.js';
import { obstacle } from './prepare.js';
import { newTurn } from './turn.js';
import { pressKey, scrollBy } from './page.js';

const fire = (el, type, Kind, more) => el.dispatchEvent(new (Kind || Event)(type, Object.assign({ bubbles: true, cancelable: true, composed: true, view: window }, more)));

/** Sets a property past whatever a framework put on the instance, so that its own change tracking notices. */
const setNative = (el, key, value) => {
  const type = { input: HTMLInputElement, textarea: HTMLTextAreaElement, select: HTMLSelectElement }[tagOf(el)];
  Object.getOwnPropertyDescriptor(type.prototype, key).set.call(el, value);
};

const FORMS = {
  date: 'YYYY-MM-DD',
  time: 'HH:MM',
  'datetime-local': 'YYYY-MM-DDTHH:MM',
  month: 'YYYY-MM',
  week: 'YYYY-Www',
  color: '#rrggbb',
  number: 'a number',
  range: 'a number',
};

const inputEvent = (el, type, data, inputType) => fire(el, type, InputEvent, { data, inputType, cancelable: type != 'input' });

/** @returns {object | undefined} a failure */
const write = (el, text, add) => {
  el.focus();
  if (el.isContentEditable) {
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(el);
    if (add) range.collapse(false);
    selection.removeAllRanges();
    selection.addRange(range);
    if (!document.execCommand(text ? 'insertText' : 'delete', false, text) && fold(textOf(el)) != fold(text)) {
      if (inputEvent(el, 'beforeinput', text, 'insertText')) {
        el.textContent = add ? el.textContent + text : text;
        inputEvent(el, 'input', text, 'insertText');
      }
    }
    return;
  }
  const form = FORMS[el.type], old = el.value, want = add ? old + text : text;
  if (form && want) {
    const probe = document.createElement('input');
    probe.type = el.type;
    probe.step = 'any';
    if (el.type == 'range') (probe.min = el.min), (probe.max = el.max);
    probe.value = want;
    const got = probe.value;
    if (el.type == 'color' ? got != want.toLowerCase() : /number|range/.test(el.type) ? !/\S/.test(want) || +got != +want : !got)
      return failure('invalid_value', `${el.type} takes ${form}, not ${JSON.stringify(cut(want, 60))}` + (el.type == 'range' ? ` (${el.min || 0} to ${el.max || 100})` : ''), { wanted: form });
  }
  if (!inputEvent(el, 'beforeinput', text, text ? 'insertText' : 'deleteContentBackward')) return;
  setNative(el, 'value', want);
  inputEvent(el, 'input', text, text ? 'insertText' : 'deleteContentBackward');
  fire(el, 'change');
};

const pointer = (el, type, at, more) => {
  const Kind = /^pointer/.test(type) && window.PointerEvent ? PointerEvent : MouseEvent;
  return fire(el, type, Kind, Object.assign({ clientX: at.x, clientY: at.y, button: 0, pointerId: 1, pointerType: 'touch', isPrimary: true }, more));
};

const press = (el, at, count) => {
  pointer(el, 'pointerdown', at, { buttons: 1 });
  if (pointer(el, 'mousedown', at, { buttons: 1, detail: count }) && el.focus) el.focus();
  pointer(el, 'pointerup', at);
  pointer(el, 'mouseup', at, { detail: count });
  // The element's own click runs its activation behaviour as well as the handlers.
  if (el.click && count < 2) el.click();
  else pointer(el, 'click', at, { detail: count });
};

const optionsOf = (el) => (tagOf(el) == 'select' ? [...el.options] : findAll(el, '[role=option]'));

const choose = (el, wanted) => {
  if (tagOf(el) != 'select') return failure('not_a_select_element', 'it is not a select element');
  const options = optionsOf(el), chosen = new Set();
  for (const want of wanted) {
    const words = fold('' + want);
    const option = options.find((o) => o.value == want) || options.find((o) => fold(textOf(o)) == words || attr(o, 'label') == want) || options.find((o) => fold(textOf(o)).toLowerCase() == words.toLowerCase());
    if (!option || option.disabled)
      return failure('no_such_option', `there is no option ${JSON.stringify(cut(words, 60))}${option ? ' that is enabled' : ''}`, { options: options.slice(0, 50).map((o) => cut(fold(textOf(o)), 60)) });
    chosen.add(option);
  }
  el.focus();
  if (el.multiple) for (const option of options) option.selected = chosen.has(option);
  else if (wanted.length) for (const option of chosen) setNative(el, 'selectedIndex', options.indexOf(option));
  fire(el, 'input');
  fire(el, 'change');
};

const setChecked = async (el, want, at) => {
  const code = want ? 'not_checkable' : 'not_uncheckable', now = checkedOf(el);
  if (now == null) return failure(code, 'it is not a checkbox, radio or switch');
  if (now === want) return;
  if (!want && (el.type == 'radio' || attr(el, 'role') == 'radio')) return failure(code, 'a radio button is unchecked by checking another');
  press(at._on, at, 1);
  await frame();
  if (checkedOf(el) !== want) return failure(code, 'it did not change when clicked');
};

export const action = async (ref, name, params) => {
  const p = params || {};
  const fail = (error) => ({ success: false, action: name, ref, error });
  newTurn();
  const found = resolve(ref);
  if (found.error) return fail(found.error);
  const { el } = found;
  if (!/^(click|double_click|long_press|fill|type|clear|check|uncheck|select|focus|hover|scroll_into_view|scroll|press|drag)$/.test(name)) return fail(failure('unknown_action', name + ' is not an action').error);
  const trouble = obstacle(el, name);
  if (trouble) return fail(failure(trouble[0], `${ref} is ${trouble[1]}`, { nearest: [] }).error);
  const target = standIn(el);
  let at = tapPoint(target);
  if (at._outside || name == 'scroll_into_view') {
    target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    at = tapPoint(target);
  }
  if (/click|press$|check|drag/.test(name) && name != 'press' && at._by) return fail(failure('covered', `${ref} is covered by ${at._by}`, { nearest: [] }).error);
  at._on = target;
  let wrong;
  if (name == 'click') press(target, at, 1);
  else if (name == 'double_click') {
    press(target, at, 1);
    press(target, at, 2);
    pointer(target, 'dblclick', at, { detail: 2 });
  } else if (name == 'long_press') {
    pointer(target, 'pointerdown', at, { buttons: 1 });
    pointer(target, 'mousedown', at, { buttons: 1 });
    await pause(p.durationMs || 600);
    pointer(target, 'contextmenu', at, { button: 2 });
    pointer(target, 'pointerup', at);
    pointer(target, 'mouseup', at);
  } else if (/^(fill|type|clear)$/.test(name)) wrong = write(el, name == 'clear' ? '' : '' + (p.value == null ? p.text : p.value), name == 'type');
  else if (/check/.test(name)) wrong = await setChecked(el, name == 'check', at);
  else if (name == 'select') wrong = choose(el, [].concat(p.values || p.value));
  else if (name == 'focus') el.focus();
  else if (name == 'hover') for (const type of ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove']) pointer(el, type, at, { bubbles: !/enter/.test(type), pointerType: 'mouse' });
  else if (name == 'scroll') scrollBy(p.direction, p.amount, el);
  else if (name == 'press') {
    el.focus();
    pressKey(p.key, el);
  } else if (name == 'drag') {
    const to = resolve(p.to);
    if (to.error) return fail(to.error);
    drag(el, at, to.el);
  }
  if (wrong) return fail(wrong.error);
  const out = { success: true, action: name, ref };
  if (/^(fill|type|clear|press)$/.test(name)) out.value = valueOf(el);
  if (name == 'select') {
    out.values = [...el.selectedOptions].map((option) => fold(textOf(option)));
    out.value = el.value;
  }
  if (checkedOf(el) != null) out.checked = checkedOf(el);
  return out;
};

const drag = (el, at, goal) => {
  goal.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  const end = tapPoint(goal), dataTransfer = new DataTransfer();
  const both = (on, pointerType, mouseType, where, buttons) => {
    pointer(on, pointerType, where, { buttons });
    pointer(on, mouseType, where, { buttons });
  };
  both(el, 'pointerdown', 'mousedown', at, 1);
  const native = el.draggable && fire(el, 'dragstart', DragEvent, { dataTransfer });
  both(el, 'pointermove', 'mousemove', { x: (at.x + end.x) / 2, y: (at.y + end.y) / 2 }, 1);
  both(goal, 'pointermove', 'mousemove', end, 1);
  if (native) for (const type of ['dragenter', 'dragover', 'drop']) fire(goal, type, DragEvent, { dataTransfer, clientX: end.x, clientY: end.y });
  both(goal, 'pointerup', 'mouseup', end, 0);
  if (native) fire(el, 'dragend', DragEvent, { dataTransfer });
};
