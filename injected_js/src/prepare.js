/** Before an action: is the ref still itself, can it be acted on, and does a tap land on it? */
import { assign, boxOf, is, matches, now, tagOf } from './dom.js';
import { isSeen, pause, rectOf, standIn, tapPoint } from './hit.js';
import { failure, resolve } from './refs.js';
import { isIn } from './states.js';
import { watch } from './settle.js';
import { newTurn } from './turn.js';

/** Waits until the element can take this action; `_el` and `_on` are it and what stands for it. */
export const ready = async (ref, action, { timeoutMs = 5e3, hit = true } = {}) => {
  const end = now() + timeoutMs;
  for (let last, box; ; last = box) {
    // Always in an animation frame: a box that is measured between two of them may be that of the frame before.
    await pause();
    newTurn();
    const found = resolve(ref), { el } = found;
    if (!el) return found;
    const _on = standIn(el);
    let at = hit ? tapPoint(_on) : {}, code, seen;
    if (at._outside || action == 'scroll_into_view') {
      _on.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
      at = tapPoint(_on);
    }
    const rect = rectOf(boxOf(_on));
    box = '' + rect;
    if (is(action, 'fill type clear') && !(el.isContentEditable || (matches(el, 'input,textarea') && !isIn(el, 'readonly') && !/^(but|sub|res|im|ch|rad|fil)/.test(el.type)))) code = 'not_editable';
    else if (!isSeen(_on)) code = 'not_visible';
    else if (!/hover|focus|scroll/.test(action) && isIn(el, 'disabled')) code = 'disabled';
    // Equal over two frames: what slides is not tapped on its way.
    else if (box != last) seen = 'moving';
    else if (at._outside) code = 'not_visible';
    else if (at._by) seen = (code = 'covered') + ' by ' + at._by;
    else return assign({ ok: true, box: rect, tag: tagOf(el), _el: el, _on }, at);
    if (now() > end) return failure(code || 'timeout', seen, { lastSeen: seen });
  }
};

export const prepare = async (ref, action, options) => {
  const found = await ready(ref, action, options), { _el, _on } = found;
  if (_el) watch(_el, _on, options && options.hit === false, ref);
  // Elements are no JSON.
  return assign(found, { _el: undefined, _on: undefined });
};
