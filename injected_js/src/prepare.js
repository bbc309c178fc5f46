/** Before an action: is the ref still itself, can it be acted on, and does the tap land on it? */
import { attr, boxOf, cut, describe, tagOf } from './dom.js';
import { frame, isSeen, isOn, pause, standIn, tapPoint, toTop } from './hit.js';
import { failure, resolve } from './refs.js';
import { isDisabled } from './states.js';
import { newTurn } from './turn.js';
import { watch } from './settle.js';

/** Takes text from a keyboard. */
export const isEditable = (el) => {
  const tag = tagOf(el);
  return (
    el.isContentEditable ||
    ((tag == 'textarea' || (tag == 'input' && !/^(button|submit|reset|image|checkbox|radio|file|hidden)$/.test(el.type))) && !el.readOnly && attr(el, 'aria-readonly') != 'true')
  );
};

const NEEDS_TEXT = /^(fill|type|clear)$/;

/** What stands in the way of this action on this element now, or nothing. */
export const obstacle = (el, action) => {
  if (!isSeen(standIn(el))) return ['not_visible', 'not visible'];
  if (!/^(hover|focus|scroll|scroll_into_view)$/.test(action) && isDisabled(el)) return ['disabled', 'disabled'];
  if (NEEDS_TEXT.test(action) && !isEditable(el)) return ['not_editable', el.readOnly ? 'read-only' : 'not editable'];
};

const sameBox = (a, b) => a && Math.abs(a.left - b.left) + Math.abs(a.top - b.top) + Math.abs(a.width - b.width) + Math.abs(a.height - b.height) < 0.5;

export const prepare = async (ref, action, options) => {
  const o = Object.assign({ timeoutMs: 5000, hit: true, touch: true }, options);
  const end = performance.now() + o.timeoutMs;
  let last, trouble;
  for (;;) {
    newTurn();
    const found = resolve(ref);
    if (found.error) return found;
    const { el, meaning } = found, target = standIn(el);
    trouble = obstacle(el, action);
    if (!trouble) {
      let point = o.hit ? tapPoint(target) : {}, box = boxOf(target);
      if (point._outside) {
        target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
        point = tapPoint(target);
        last = null;
        box = boxOf(target);
      }
      if (!last || !sameBox(last, box)) {
        // Equal over two frames: a sliding panel is not tapped on its way.
        trouble = last ? ['not_visible', 'moving'] : ['not_visible', 'not there for two frames'];
        last = box;
        await frame();
        if (performance.now() < end) continue;
      } else if (point._outside) trouble = ['not_visible', 'outside the viewport'];
      else if (point._by) trouble = ['covered', 'covered by ' + point._by];
      else {
        const on = o.hit ? toTop(point) : {};
        if (on._by) {
          if (on._frame) on._frame.scrollIntoView({ block: 'nearest', behavior: 'instant' });
          trouble = ['covered', 'covered by ' + on._by];
        } else {
          if (o.hit) arm(el, target, action);
          watch(el);
          const { left, top, width, height } = box;
          return Object.assign({ ok: true, box: [left, top, width, height], role: meaning._role, name: cut(meaning._name, 80), tag: tagOf(el), focused: el.getRootNode().activeElement == el }, on);
        }
      }
    }
    if (performance.now() >= end) return failure(trouble[0], `${ref} is ${trouble[1]}`, { lastSeen: trouble[1], nearest: [] });
    last = trouble[0] == 'covered' ? last : null;
    await frame();
    await pause(20);
  }
};

const EVENTS = ['pointerdown', 'touchstart', 'mousedown', 'pointerup', 'touchend', 'mouseup', 'click', 'dblclick', 'contextmenu'];

/** The armed guard: the first trusted event decides; when it misses the element, the whole gesture is stopped. */
export const guard = { _hit: null, _seen: new Set(), _disarm() {} };

const arm = (el, target, action) => {
  guard._disarm();
  guard._hit = null;
  guard._seen = new Set();
  const listener = (event) => {
    if (!event.isTrusted) return;
    if (guard._hit == null) {
      const [hit] = event.composedPath();
      guard._hit = isOn(hit, el) || isOn(hit, target) || (hit && hit.nodeType == 1 ? describe(hit) : 'the document');
    }
    guard._seen.add(event.type);
    if (guard._hit !== true) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  for (const type of EVENTS) addEventListener(type, listener, { capture: true, passive: false });
  const timer = setTimeout(() => guard._disarm(), 30000);
  guard._disarm = () => {
    clearTimeout(timer);
    for (const type of EVENTS) removeEventListener(type, listener, true);
    guard._disarm = () => {};
  };
};
