/** Where to tap an element, and what a tap there would land on. */
import { attr, boxOf, describe, flatParent, shadowOf, tagOf } from './dom.js';
import { styleOf } from './style.js';

/** @type {(el: Element) => DOMRect} the first box of it that has an area */
const firstBox = (el) => [...el.getClientRects()].find((box) => box.width > 1 && box.height > 1) || boxOf(el);

/** Its visible label stands for a control that has no box of its own to tap. @type {(el: Element) => Element} */
export const standIn = (el) => {
  const box = boxOf(el);
  if ((box.width > 1 && box.height > 1 && styleOf(el).opacity != '0' && styleOf(el).clipPath == 'none') || !el.labels) return el;
  return [...el.labels].find((label) => isSeen(label)) || el;
};

/** @type {(el: Element) => boolean} */
export const isSeen = (el) => {
  const box = firstBox(el);
  return box.width > 0 && box.height > 0 && getComputedStyle(el).visibility == 'visible';
};

const deepest = (root, x, y) => {
  let hit = null, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) {
    hit = found;
    root = shadowOf(hit);
  }
  return hit;
};

/** Is it the element, in it, or in a label of it? */
export const isOn = (hit, el) => {
  for (; hit; hit = flatParent(hit)) if (hit == el || (tagOf(hit) == 'label' && hit.control == el) || hit == el._label) return true;
  return false;
};

/** A point of the element in this frame's viewport that a tap reaches, or what covers it. */
export const tapPoint = (el) => {
  const box = firstBox(el);
  const left = Math.max(box.left, 0), top = Math.max(box.top, 0), right = Math.min(box.right, innerWidth), bottom = Math.min(box.bottom, innerHeight);
  if (right <= left || bottom <= top) return { _outside: 1 };
  let by;
  for (const [a, b] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.75], [0.75, 0.25], [0.25, 0.75]]) {
    const x = left + (right - left) * a, y = top + (bottom - top) * b, hit = deepest(document, x, y);
    if (isOn(hit, el)) return { x, y };
    by = by || hit;
  }
  return { _by: by ? describe(by) : 'nothing' };
};

/** The same point in the top frame, as far as ancestors are same-origin; or what covers the frame. */
export const toTop = (point) => {
  let { x, y } = point, view = window, frame;
  try {
    while ((frame = view.frameElement)) {
      const box = boxOf(frame);
      x += box.left + frame.clientLeft + (parseFloat(getComputedStyle(frame).paddingLeft) || 0);
      y += box.top + frame.clientTop + (parseFloat(getComputedStyle(frame).paddingTop) || 0);
      const hit = deepest(frame.getRootNode(), x, y);
      if (hit != frame) return { _by: hit ? describe(hit) : 'the edge of its frame', _frame: frame };
      view = view.parent;
    }
  } catch (e) {}
  return { x, y, top: view == window.top };
};

/** The nearest frame, or a moment where there are none. */
export const frame = () =>
  new Promise((done) => {
    requestAnimationFrame(done);
    setTimeout(done, 60);
  });
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
