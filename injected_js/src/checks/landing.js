/** What a tap at a point would land on, and what keys would. */
import { attr, doc, flatParent, fold, kindOf, shadowOf, tagOf } from '../core/dom.js';
import { around, shownContext } from './context.js';

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

/**
 * The innermost element at a point, through open shadow roots; the slot of a text that is shown in one, which
 * `elementFromPoint` takes for its host.
 * @type {(x: number, y: number, root: any) => any}
 */
export const hitAt = (x, y, root) => {
  let hit, found;
  while (root && (found = root.elementFromPoint(x, y)) && found != hit) root = shadowOf((hit = found));
  for (const kid of hit && shadowOf(hit) ? hit.childNodes : [])
    if (kindOf(kid) == 3 && kid.assignedSlot) {
      const range = doc.createRange();
      range.selectNode(kid);
      if ([...range.getClientRects()].some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom)) return kid.assignedSlot;
    }
  return hit;
};

/** What has the focus, in open shadow roots too. @type {() => any} */
export const focused = () => {
  let at = doc.activeElement;
  while (at && shadowOf(at) && shadowOf(at).activeElement) at = shadowOf(at).activeElement;
  return at;
};

/**
 * Where keys would go instead of to this element, or undefined when they go to it or to what is in it.
 * @type {(el: Element | null) => {error: {code: string, holder: string[]}} | undefined}
 */
export const focusAway = (el) => {
  const at = focused();
  if (!el || landing(at, el) === true) return;
  return { error: { code: 'action_failed', holder: at && at != doc.body ? __agentBrowser.refOf(at).slice(1) : [] } };
};

const AROUND_CHARS = 160;
/**
 * The error of a ref that means something else now, with what a snapshot would show of the element.
 * @type {(error: any) => any}
 */
export const withLine = (error) => {
  const { fresh } = error || {}, el = fresh && __agentBrowser.element(fresh);
  if (el && el.nodeType) {
    error.around = fold(around(shownContext(el))).slice(0, AROUND_CHARS);
    error.line = __agentBrowser.snapshot({ scope: fresh, maxNodes: 1, cursorInteractive: true });
  }
  return error;
};
