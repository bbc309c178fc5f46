/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { assign, attr, cut, doc, findAll, flatParent, isField, isLive, kidsOf, low, matches, rootOf, tagOf, textOf } from './dom.js';
import { roleOf } from './roles.js';
import { nameOf } from './names.js';
import { about } from './turn.js';

/**
 * @typedef {object} Meaning
 * @property {string} ref
 * @property {WeakRef<Element>} _el
 * @property {string} [_key] role, name without numbers that only count, and the item's words; none for a cut
 * @property {number} [_span] a cut: "go on from this element, for so many siblings"
 */

const isolated = window.__agentBrowserIsolated, STAMP = 'data-agent-ref', EDITABLE = '[contenteditable]';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

/** @type {(code: string, more?: object) => {error: object}} */
export const failure = (code, more) => ({ error: assign({ code }, more) });

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const steady = (text) => low(text).replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

const looks = (el) => tagOf(el) + (attr(el, 'class') || findAll(el, ':scope>*').map(tagOf));

/** How many alike siblings stand beside what may be a card, as far as it matters: a small box that is no part of a page. */
const twins = (item) => {
  const facts = about(item);
  if (facts._twins === undefined) {
    let n = 0;
    for (const way of ['previous', 'next']) for (let at = item; n < 3 && (at = at[way + 'ElementSibling']) && looks(at) == looks(item); ) n++;
    facts._twins = n && textOf(item).length < 2e3 && !findAll(item, 'main,nav,header,footer,aside,form,h1')[0] ? n : 0;
  }
  return facts._twins;
};

/**
 * The words of the nearest row, list item or article around it, else of the nearest card: one of two alike
 * siblings, or of three around a form field, because two fields in alike boxes are a form. What is typed there is not of them.
 */
const itemOf = (el) => {
  let card;
  for (let item = el; item && item != doc.body; item = flatParent(item))
    if (/^(listi|row$|art|opt|treei)/.test(roleOf(item))) {
      card = item;
      break;
    } else if (!card && item != el && twins(item) > (isField(el) || matches(el, EDITABLE))) card = item;
  if (!card) return;
  const facts = about(card);
  // So many characters tell one item from another.
  return (facts._words = facts._words || steady(findAll(card, EDITABLE).reduce((words, it) => words.replace(textOf(it), ''), kidsOf(card).map(textOf).join(' ')).slice(0, 2e3)));
};

/** What an element is now: role, the name by which it is known, and the key of both. */
export const identify = (el) => {
  const role = roleOf(el), name = cut(nameOf(el, 1), 200);
  return { role, name, _key: [role, steady(name), itemOf(el)] + '' };
};

/** Held so that it can go: what the page has removed and forgotten is not kept for the sake of a number. */
const weak = (el) => (typeof WeakRef != 'undefined' ? new WeakRef(el) : { deref: () => el });

/** @type {(meaning: Meaning) => Element | undefined} while it is in the document */
const elementOf = ({ _el }) => [_el.deref()].find((it) => it && isLive(it));

const mint = (meaning) => {
  meaning.ref = (isolated ? '' : 'e') + ++last;
  meanings.set(meaning.ref, meaning);
  return meaning;
};

/** The ref of an element, as it is now. @type {(el: Element, now: object) => string} */
export const introduce = (el, { _key }) => {
  let meaning = current.get(el);
  if (!meaning || meaning._key != _key) current.set(el, (meaning = mint({ _el: weak(el), _key })));
  const { ref } = meaning;
  meanings.set(ref, meaning);
  if (!isolated) el.setAttribute(STAMP, ref);
  return ref;
};

/** A place to go on from. @type {(first: Element) => Meaning} */
export const placeRef = (el) => mint({ _el: weak(el), _span: 1 });
export const isRef = (ref) => meanings.has(ref);

/** At each snapshot old stamps go, and what has left the document is let go of. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(rootOf(), `[${STAMP}]`)) el.removeAttribute(STAMP);
  for (const [ref, meaning] of meanings) if (!elementOf(meaning)) meanings.delete(ref);
};

/**
 * The element of a ref if it still is what it was shown as; of a cut, where that is asked for, its first and how many.
 * @type {(ref: string, orCut?: any) => {_el?: Element, _span?: number, error?: object}}
 */
export const resolve = (ref, orCut) => {
  const meaning = meanings.get(ref), { _key, _span } = meaning || {}, _el = meaning && (_key || orCut) && elementOf(meaning);
  if (!_el) return failure('ref_not_found');
  const now = _key && identify(_el);
  return _span || (current.get(_el).ref == ref && _key == now._key) ? { _el, _span } : failure('stale_ref', { now: `${now.role} "${now.name}"` });
};
