/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and what tells it from others like it: a recycled row keeps element,
 * role and name "Delete" but belongs to somebody else.
 */
import { identify, rule } from './context.js';
import { cut, findAll, isLive, rootOf, set, unset } from './dom.js';
import { failure } from './failure.js';

/**
 * @typedef {object} Meaning
 * @property {string} ref
 * @property {{deref: () => Element}} _el
 * @property {any} [_said] what it was shown as (context.js); none for a cut
 * @property {number} [_span] a cut: "go on from this element, for so many siblings"
 */

const isolated = self.__agentBrowserIsolated, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
export const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

/** What is held, while it is in the document. @type {(held: {deref: () => any}) => any} */
const elementOf = (held, el = held.deref()) => el && isLive(el) && el;

/** Gives a meaning its number. @type {(el: Element, meaning: any) => Meaning} */
export const mint = (el, part) => {
  const meaning = /** @type {Meaning} */ (part);
  // What the page has removed and forgotten is not kept for the sake of a number.
  meaning._el = self.WeakRef ? new WeakRef(el) : { deref: () => el };
  meaning.ref = (isolated ? '' : 'e') + ++last;
  // Now and then: looking at all of them in each snapshot costs more than a small one.
  if (last % 999 < 1) for (const [ref, { _el }] of meanings) if (!elementOf(_el)) meanings.delete(ref);
  meanings.set(meaning.ref, meaning);
  return meaning;
};

/** @type {WeakMap<Element, Meaning>} */
const cuts = new WeakMap();

/** The cut that begins at an element; as long as it is there, its number is the same. @type {(el: Element) => Meaning} */
export const cutAt = (el, meaning = cuts.get(el) || mint(el, {})) => {
  cuts.set(el, meaning);
  meanings.set(meaning.ref, meaning);
  meaning._span = 1;
  return meaning;
};

/** The ref of an element, as it is now. @type {(el: any) => string} */
export const introduce = (el, meaning = current.get(el), now = rule[0](el, 1)) => {
  if (!meaning || !rule[1](meaning._said, now)) current.set(el, (meaning = mint(el, {})));
  meaning._said = now;
  const { ref } = meaning;
  meanings.set(ref, meaning);
  if (!isolated) set(el, STAMP, ref);
  return ref;
};

/** At each snapshot old stamps go. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(rootOf(), `[${STAMP}]`)) unset(el, STAMP);
};

/**
 * The element of a ref if it still is what it was shown as; of a cut, where that is asked for, its first and how many.
 * @type {(ref: string, orCut?: any) => {_el?: any, _span?: number, error?: object}}
 */
export const resolve = (ref, orCut, { _el, _said, _span } = meanings.get(ref) || /** @type {any} */ ({}), el = (_said || orCut) && _el && elementOf(_el)) =>
  !el ? failure('ref_not_found') : _span || rule[1](_said, rule[0](el)) ? { _el: el, _span } : failure('stale_ref', { now: `${identify(el).role} "${cut(identify(el).name, 200)}"`, role: identify(el).role, name: cut(identify(el).name, 200), fresh: introduce(el) });
