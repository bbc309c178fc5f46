/** Before an action: is the ref still itself, can it be acted on, and does a tap land on it? */
import { assign, boxOf, is, matches, now, tagOf } from './dom.js';
import { isSeen, landing, pause, reveal, standIn, tapPoint } from './hit.js';
import { failure, resolve } from './refs.js';
import { isDisabled } from './states.js';
import { watch } from './settle.js';
import { newTurn } from './turn.js';

/** Waits until the element can take this action; `_el` and `_on` are it and what stands for it. */
export const ready = async (ref, action, { timeoutMs = 5e3, hit = true }) => {
  const end = now() + timeoutMs;
  for (let last, box; ; last = box) {
    newTurn();
    const found = resolve(ref), { el, was } = found;
    if (!el) return found;
    const target = standIn(el);
    let at = hit ? tapPoint(target) : {}, code = 'not_visible', seen;
    if (at._outside || action == 'scroll_into_view') {
      reveal(target);
      at = tapPoint(target);
    }
    const { left, top, width, height } = boxOf(target);
    box = [left, top, width, height];
    if (!isSeen(target)) seen = 'not visible';
    else if (!/hover|focus|scroll/.test(action) && isDisabled(el)) seen = code = 'disabled';
    else if (is(action, 'fill type clear') && !(el.isContentEditable || matches(el, 'textarea:not([readonly]),input:not([readonly]):not([type=button]):not([type=submit]):not([type=reset]):not([type=image]):not([type=checkbox]):not([type=radio]):not([type=file])'))) seen = code = 'not_editable';
    // Equal over two frames: what slides is not tapped on its way.
    else if (box + '' != last) seen = 'moving';
    else if (at._outside) seen = 'outside the viewport';
    else if (at._by) seen = (code = 'covered') + ' by ' + at._by;
    else return assign({ ok: true, box, tag: tagOf(el), focused: matches(el, ':focus'), _el: el, _on: target }, was, at);
    if (now() > end) return failure(code, `${ref} is ${seen}`, { was, lastSeen: seen });
    await pause();
  }
};

export const prepare = async (ref, action, o = {}) => {
  const found = await ready(ref, action, o), el = found._el, on = found._on;
  if (el) {
    delete found._el;
    delete found._on;
    if (o.hit !== false) arm(el, on);
    watch(el);
  }
  return found;
};

/** Listens, or stops listening, to these on the window before anybody else. */
export const listen = (way, types, listener) => {
  for (const type of types.split(' ')) window[way + 'EventListener'](type, listener, { capture: true, passive: false });
};

/** The armed guard: the first trusted event decides; when it misses the element, the whole gesture is stopped. */
export const guard = { _disarm() {} };
const EVENTS = 'pointerdown touchstart mousedown pointerup touchend mouseup click dblclick contextmenu';

const arm = (el, on) => {
  guard._disarm();
  guard._hit = guard._done = false;
  const listener = (event) => {
    const [hit] = event.composedPath();
    if (!event.isTrusted) return;
    if (!guard._hit && (guard._hit = landing(hit, on)) !== true && landing(hit, el) === true) guard._hit = true;
    if (guard._hit !== true) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
    guard._done = guard._hit !== true || is(event.type, 'click contextmenu');
  };
  listen('add', EVENTS, listener);
  const timer = setTimeout(() => guard._disarm(), 3e4);
  guard._disarm = () => {
    clearTimeout(timer);
    listen('remove', EVENTS, listener);
  };
};
