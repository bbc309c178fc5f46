/** Before an action: is the ref still itself, can it be acted on, and does a tap land on it? */
import { assign, boxOf, is, matches, now, tagOf } from './dom.js';
import { frame, isOn, isSeen, pause, pointAt, reveal, standIn, tapPoint, toTop } from './hit.js';
import { failure, resolve } from './refs.js';
import { isDisabled } from './states.js';
import { watch } from './settle.js';
import { newTurn } from './turn.js';

/** What stands in the way of this action on this element now: code and words. */
export const obstacle = (el, action) => {
  if (!isSeen(standIn(el))) return ['not_visible', 'not visible'];
  if (!/hover|focus|scroll/.test(action) && isDisabled(el)) return ['disabled', 'disabled'];
  if (is(action, 'fill type clear') && !(el.isContentEditable || (matches(el, 'input,textarea') && !matches(el, '[readonly],[aria-readonly=true]') && !is(el.type, 'button submit reset image checkbox radio file'))))
    return ['not_editable', 'not editable'];
};

export const prepare = async (ref, action, options) => {
  const o = assign({ timeoutMs: 5e3, hit: true }, options), end = now() + o.timeoutMs;
  let last, trouble;
  for (;;) {
    newTurn();
    const found = resolve(ref), { el } = found;
    if (!el) return found;
    const target = standIn(el);
    let on, box;
    trouble = obstacle(el, action);
    if (!trouble) {
      on = o.hit ? tapPoint(target) : {};
      if (on._outside) {
        reveal(target);
        on = tapPoint(target);
      }
      const { left, top, width, height } = boxOf(target);
      box = [left, top, width, height];
      // Equal over two frames: what slides is not tapped on its way.
      if (box + '' != last) trouble = ['not_visible', 'moving'];
      else if (on._outside) trouble = ['not_visible', 'outside the viewport'];
      else if (!on._by && o.hit) on = toTop(on);
      if (on._frame) reveal(on._frame);
      if (on._by) trouble = ['covered', 'covered by ' + on._by];
    }
    last = box + '';
    if (!trouble) {
      if (o.hit) arm(el, target);
      watch(el);
      return assign({ ok: true, box, tag: tagOf(el), focused: el.getRootNode().activeElement == el }, found.was, on);
    }
    if (now() > end) return failure(trouble[0], `${ref} is ${trouble[1]}`, { lastSeen: trouble[1] });
    await frame();
    if (trouble[1] != 'moving') await pause(20);
  }
};

/** The armed guard: the first trusted event decides; when it misses the element, the whole gesture is stopped. */
export const guard = { _disarm() {} };

const EVENTS = ['pointerdown', 'touchstart', 'mousedown', 'pointerup', 'touchend', 'mouseup', 'click', 'dblclick', 'contextmenu'];

const arm = (el, target) => {
  guard._disarm();
  guard._hit = guard._done = 0;
  const listener = (event) => {
    const { type, isTrusted } = event, [hit] = event.composedPath();
    if (!isTrusted) return;
    guard._hit = guard._hit || isOn(hit, el) || isOn(hit, target) || (hit.nodeType == 1 ? pointAt(hit) : 'the document');
    if (is(type, 'click contextmenu') || guard._hit !== true) guard._done = 1;
    if (guard._hit !== true) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  const each = (way) => EVENTS.forEach((type) => window[way + 'EventListener'](type, listener, { capture: true, passive: false }));
  each('add');
  const timer = setTimeout(() => guard._disarm(), 3e4);
  guard._disarm = () => {
    clearTimeout(timer);
    each('remove');
  };
};
