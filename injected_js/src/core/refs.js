/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { assign, attr, cut, doc, findAll, flatParent, isField, isLive, kidsOf, low, rootOf, tagOf, textOf } from './dom.js';
import { roleOf } from './roles.js';
import { nameOf } from './names.js';
import { once } from './call_cache.js';

/**
 * @typedef {object} Meaning
 * @property {string} ref
 * @property {{deref: () => Element}} _el
 * @property {string} [_key] role, name without numbers that only count, and the item's words; none for a cut
 * @property {number} [_span] a cut: "go on from this element, for so many siblings"
 */

const isolated = self.__agentBrowserIsolated, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
export const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

/** @type {(code: string, more?: object) => {error: object, _el?: any}} */
export const failure = (code, more) => ({ error: assign({ code }, more) });

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const steady = (text) => low(text).replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

const looks = once((el) => tagOf(el) + (attr(el, 'class') || findAll(el, ':scope>*').map(tagOf)));

/** How many alike siblings stand beside what may be a card, as far as it matters: a small box that is no part of a page. */
const twins = once((item, n = 0) => {
  for (const way of ['previous', 'next']) for (let at = item; n < 3 && (at = at[way + 'ElementSibling']) && looks(at) == looks(item); ) n++;
  return n && textOf(item).length < 2e3 && !findAll(item, 'main,form,h1')[0] && n;
});

/** The words of an item but for those that are typed there; so many tell one from another. */
const wordsOf = once((item) => steady(findAll(item, '[contenteditable]').reduce((words, it) => words.replace(textOf(it), ''), kidsOf(item).map(textOf).join(' ')).slice(0, 2e3)));

/**
 * The words of the nearest row, list item or article around it, else of the nearest card: one of two alike
 * siblings, or of three around a form field, because two fields in alike boxes are a form.
 */
const itemOf = (el, card, field = isField(el)) => {
  for (let item = el; item && item != doc.body; item = flatParent(item))
    if (/^(listi|row$|art|opt|treei)/.test(roleOf(item))) return wordsOf(item);
    else if (!card && item != el && +twins(item) > +field) card = item;
  return card && wordsOf(card);
};

/** What an element is now: role, and the name by which it is known. */
export const identify = (el) => ({ role: roleOf(el), name: cut(nameOf(el, 1), 200) });

/** Both, and the item in which it is. */
const keyOf = (el, { role, name }) => [role, steady(name), itemOf(el)] + '';

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

/** The ref of an element, as it is now. @type {(el: any, now: {role: string, name: string}) => string} */
export const introduce = (el, now, _key = keyOf(el, now), meaning = current.get(el)) => {
  if (!meaning || meaning._key != _key) current.set(el, (meaning = mint(el, { _key })));
  const { ref } = meaning;
  meanings.set(ref, meaning);
  if (!isolated) el.setAttribute(STAMP, ref);
  return ref;
};

/** At each snapshot old stamps go. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(rootOf(), `[${STAMP}]`)) el.removeAttribute(STAMP);
};

/**
 * The element of a ref if it still is what it was shown as; of a cut, where that is asked for, its first and how many.
 * @type {(ref: string, orCut?: any) => {_el?: any, _span?: number, error?: object}}
 */
export const resolve = (ref, orCut, { _el, _key, _span } = meanings.get(ref) || /** @type {any} */ ({}), el = (_key || orCut) && _el && elementOf(_el), now = el && identify(el)) =>
  !el ? failure('ref_not_found') : _span || _key == keyOf(el, now) ? { _el: el, _span } : failure('stale_ref', { now: `${now.role} "${now.name}"` });
