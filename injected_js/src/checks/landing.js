/** What a tap at a point would land on, and what keys would. */
import { attr, doc, flatParent, shadowOf, tagOf } from '../core/dom.js';

/** True on the element, in it, or in a label of it; else what is there: `div#cookie-banner`. */
export const landing = (hit, el, on) => {
  for (let at = hit; at; at = flatParent(at)) if (at == el || at == on || at.control == el) return true;
  return hit && hit.nodeType == 1 ? tagOf(hit) + attr(hit, 'id').replace(/^(?=.)/, '#') : 'nothing';
};

/** The innermost element at a point, through open shadow roots. */
export const hitAt = (x, y, root) => {
  let hit, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) root = shadowOf((hit = found));
  return hit;
};

/** What has the focus, in open shadow roots too. */
export const focused = () => {
  let at = doc.activeElement;
  while (at && shadowOf(at) && shadowOf(at).activeElement) at = shadowOf(at).activeElement;
  return at;
};
