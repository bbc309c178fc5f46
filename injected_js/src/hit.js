/** Where to tap an element, and what a tap there would land on. */
import { attr, boxOf, flatParent, fold, labelsOf, shadowOf, tagOf } from './dom.js';
import { isUnseen, isVisible } from './style.js';

/** @type {(el: Element) => DOMRect} the first box of it that has an area */
const firstBox = (el) => [...el.getClientRects()].find(({ width, height }) => width > 1 && height > 1) || boxOf(el);

/** @type {(el: Element) => boolean} */
export const isSeen = (el) => {
  const { width, height } = firstBox(el);
  return width && height && isVisible(el);
};

/** Its visible label stands for a control that is out of sight. @type {(el: Element) => Element} */
export const standIn = (el) => (isUnseen(el, boxOf(el)) && labelsOf(el).find(isSeen)) || el;

/** `div#cookie-banner`: how a person would point at it. */
export const pointAt = (el) => {
  const id = el && attr(el, 'id'), classes = el && attr(el, 'class');
  return el ? tagOf(el) + (id ? '#' + id : classes ? '.' + fold(classes).split(' ')[0] : '') : 'nothing';
};

const hitAt = (root, x, y) => {
  let hit, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) root = shadowOf((hit = found));
  return hit;
};

/** Is it the element, in it, or in a label of it? */
export const isOn = (hit, el) => {
  for (; hit; hit = flatParent(hit)) if (hit == el || hit.control == el) return true;
};

/** A point in this frame's viewport where a tap reaches the element; or what covers it, or that it is outside. */
export const tapPoint = (el) => {
  const box = firstBox(el), left = Math.max(box.left, 0), top = Math.max(box.top, 0), width = Math.min(box.right, innerWidth) - left, height = Math.min(box.bottom, innerHeight) - top;
  let by;
  if (width <= 0 || height <= 0) return { _outside: 1 };
  for (const at of [2, 1, 3]) {
    const x = left + (width * at) / 4, y = top + (height * at) / 4, hit = hitAt(document, x, y);
    if (isOn(hit, el)) return { x, y };
    by = by || pointAt(hit);
  }
  return { _by: by };
};

/** The same point in the top frame, as far as ancestors are same-origin; or what covers the frame. */
export const toTop = ({ x, y }) => {
  let view = window, frame;
  try {
    while ((frame = view.frameElement)) {
      const box = boxOf(frame), style = getComputedStyle(frame);
      x += box.left + frame.clientLeft + parseFloat(style.paddingLeft);
      y += box.top + frame.clientTop + parseFloat(style.paddingTop);
      const hit = hitAt(frame.getRootNode(), x, y);
      if (hit != frame) return { _by: pointAt(hit), _frame: frame };
      view = view.parent;
    }
  } catch (e) {}
  return { x, y, top: view == window.top };
};

export const reveal = (el) => el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });

/** The next frame, or a moment where there are none. */
export const frame = () =>
  new Promise((done) => {
    requestAnimationFrame(done);
    setTimeout(done, 60);
  });
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
