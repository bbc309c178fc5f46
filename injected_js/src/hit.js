/** Where to tap an element, and what a tap there would land on. */
import { attr, boxOf, doc, flatParent, kindOf, labelsOf, max, min, shadowOf, tagOf } from './dom.js';
import { isUnseen, isVisible } from './style.js';

/** @type {(el: Element) => DOMRect} the first box of it that has an area */
const firstBox = (el) => [...el.getClientRects()].find(({ width, height }) => width > 1 && height > 1) || boxOf(el);

export const rectOf = ({ left, top, width, height }) => [left, top, width, height];

/** @type {(el: Element) => boolean} */
export const isSeen = (el, { width, height } = firstBox(el)) => width && height && isVisible(el);

/** Its visible label stands for a control that is out of sight. @type {(el: Element) => Element} */
export const standIn = (el) => (isUnseen(el, boxOf(el)) && labelsOf(el).find((it) => isSeen(it))) || el;

/** True on the element, in it, or in a label of it; else what is there: `div#cookie-banner`. */
export const landing = (hit, el, on) => {
  for (let at = hit; at; at = flatParent(at)) if (at == el || at == on || at.control == el) return true;
  return hit && kindOf(hit) == 1 ? tagOf(hit) + attr(hit, 'id').replace(/^(?=.)/, '#') : 'nothing';
};

const landingAt = (x, y, el) => {
  let root = el.ownerDocument, hit, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) root = shadowOf((hit = found));
  return landing(hit, el);
};

/** A point where a tap reaches the element, in the top frame's viewport as far as that can be known; or why there is none. */
export const tapPoint = (el) => {
  const box = firstBox(el), left = max(box.left, 0), top = max(box.top, 0), width = min(box.right, innerWidth) - left, height = min(box.bottom, innerHeight) - top;
  let x = left + width / 2, y = top + height / 2, view = window, by, frame;
  if (width <= 0 || height <= 0) return { _outside: 1 };
  by = landingAt(x, y, el);
  try {
    while (by === true && (frame = view.frameElement)) {
      const { left, top } = boxOf(frame);
      x += left + frame.clientLeft;
      y += top + frame.clientTop;
      by = landingAt(x, y, frame);
      view = view.parent;
    }
  } catch (e) {}
  return by === true ? { x, y, top: view == window.top } : { _by: by };
};

/** So many milliseconds; without: the next frame, or a moment where there are none. */
export const pause = (ms) =>
  new Promise((done) => {
    if (!ms) requestAnimationFrame(done);
    setTimeout(done, ms || 60);
  });
