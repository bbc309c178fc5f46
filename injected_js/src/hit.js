/** Where to tap an element, and what a tap there would land on. */
import { attr, boxOf, doc, flatParent, fold, labelsOf, max, min, shadowOf, tagOf } from './dom.js';
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
const pointAt = (el) => el && tagOf(el) + (attr(el, 'id') ? '#' + attr(el, 'id') : fold(' ' + attr(el, 'class')).replace(/ .*|^(?=.)/g, (it) => (it ? '' : '.')));

/** The innermost element painted there. */
export const hitAt = (x, y, root = doc) => {
  let hit;
  for (let found; root && (found = root.elementFromPoint(x, y)) && found != hit; root = shadowOf((hit = found)));
  return hit;
};

/** True on the element, in it, or in a label of it; else what is there. */
export const landing = (hit, el) => {
  for (let at = hit; at; at = flatParent(at)) if (at == el || at.control == el) return true;
  return pointAt(hit) || 'nothing';
};

/** A point where a tap reaches the element, in the top frame's viewport as far as that can be known; or why there is none. */
export const tapPoint = (el) => {
  const box = firstBox(el), left = max(box.left, 0), top = max(box.top, 0), width = min(box.right, innerWidth) - left, height = min(box.bottom, innerHeight) - top;
  let by;
  if (width <= 0 || height <= 0) return { _outside: 1 };
  for (const at of [0.5, 0.25, 0.75]) {
    let x = left + width * at, y = top + height * at, view = window, frame;
    by = landing(hitAt(x, y), el);
    try {
      while (by === true && (frame = view.frameElement)) {
        const box = boxOf(frame);
        x += box.left + frame.clientLeft;
        y += box.top + frame.clientTop;
        by = landing(hitAt(x, y, frame.getRootNode()), frame);
        view = view.parent;
      }
    } catch (e) {}
    if (by === true) return { x, y, top: view == window.top };
  }
  return { _by: by };
};

export const reveal = (el) => el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });

/** So many milliseconds; without: the next frame, or a moment where there are none. */
export const pause = (ms) =>
  new Promise((done) => {
    if (!ms) requestAnimationFrame(done);
    setTimeout(done, ms || 60);
  });
