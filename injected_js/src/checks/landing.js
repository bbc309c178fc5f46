/** What a tap at a point would land on, and what keys would. */
import { attr, doc, flatParent, kindOf, shadowOf, tagOf } from '../core/dom.js';

/** As messages name it: `div#cookie-banner`. @type {(hit: any) => string} */
export const nameOfHit = (hit) => {
  if (!hit || kindOf(hit) != 1) return 'nothing';
  const id = attr(hit, 'id');
  return tagOf(hit) + (id && '#' + id);
};

/**
 * True when `hit` is the element, in it, or in a label of it or of what stands for it; else its name.
 * @type {(hit: any, el: any, on?: Element) => true | string}
 */
export const landing = (hit, el, on) => {
  for (let at = hit; at; at = flatParent(at)) if (at == el || at == on || at.control == el) return true;
  return nameOfHit(hit);
};

/** The innermost element at a point, through open shadow roots. @type {(x: number, y: number, root: any) => any} */
export const hitAt = (x, y, root) => {
  let hit, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) root = shadowOf((hit = found));
  return hit;
};

/** What has the focus, in open shadow roots too. @type {() => any} */
export const focused = () => {
  let at = doc.activeElement;
  while (at && shadowOf(at) && shadowOf(at).activeElement) at = shadowOf(at).activeElement;
  return at;
};
