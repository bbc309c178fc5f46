/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { assign, attr, cut, doc, findAll, flatParent, isLive, kidsOf, low, matches, tagOf, textOf } from './dom.js';
import { roleOf } from './roles.js';
import { nameOf } from './names.js';
import { turn } from './turn.js';

/**
 * @typedef {object} Meaning
 * @property {string} ref
 * @property {string} _said role and quoted name
 * @property {{deref(): Element | undefined}} _target
 * @property {string} _key role, name without numbers that only count, and the item's words
 */

const isolated = globalThis.__agentBrowserIsolated, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const steady = (text) => low(text).replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

/** How many alike siblings stand on one side of it, itself included. */
const twins = (item, way) => {
  let n = 0;
  for (let at = item; n < 3 && at && tagOf(at) + attr(at, 'class') == tagOf(item) + attr(item, 'class'); at = at[way + 'ElementSibling']) n++;
  return n;
};

/**
 * A mark of the words of the nearest row, list item or article around it, else of the nearest card: one of two alike
 * siblings, or of three around a form field, because two fields in alike boxes are a form.
 */
const itemOf = (el) => {
  let card, hash;
  for (let item = el; item && item != doc.body; item = flatParent(item))
    if (matches(item, 'li,tr,article,optgroup,[role$=row],[role=listitem],[role=article],[role=option],[role=treeitem]')) {
      card = item;
      break;
    } else if (!card && item != el && twins(item, 'previous') + twins(item, 'next') > (matches(el, 'input,select,textarea') ? 3 : 2)) card = item;
  if (card) {
    hash = turn._items.get(card) || 0;
    if (!hash) {
      for (const letter of steady(kidsOf(card).map(textOf).join(' '))) hash = (hash * 31 + letter.codePointAt(0)) | 0;
      turn._items.set(card, hash);
    }
  }
  return hash;
};

/** What an element is now: role, the name by which it is known, and the key of both. */
export const identify = (el) => {
  const role = roleOf(el, 1), name = cut(nameOf(el, role == 'generic' ? 2 : 1), 200);
  return { role, name, _said: `${role} "${name}"`, _key: [role, steady(name), itemOf(el)] + '' };
};

const mint = (el, meaning) => {
  meaning._target = typeof WeakRef == 'function' ? new WeakRef(el) : { deref: () => el };
  meanings.set((meaning.ref = (isolated ? '' : 'e') + ++last), meaning);
  return meaning;
};

/** The ref of an element, as it is now. @type {(el: Element, now?: object) => string} */
export const introduce = (el, now = identify(el)) => {
  let meaning = current.get(el);
  if (!meaning || meaning._key != now._key) current.set(el, (meaning = mint(el, { _key: now._key })));
  if (!isolated) el.setAttribute(STAMP, meaning.ref);
  return meaning.ref;
};

/** A number for "go on from this element, for `_span` siblings". */
export const placeRef = (first) => mint(first, { _span: 1 });
export const meaningOf = (ref) => meanings.get('' + ref);

/** Old stamps go at each snapshot; what refs meant goes with the elements once there are many. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(doc.documentElement, `[${STAMP}]`)) el.removeAttribute(STAMP);
  if (meanings.size > 2e4) for (const [ref, { _target }] of meanings) if (!isLive(_target.deref() || new Text())) meanings.delete(ref);
};

/** @type {(code: string, message: string, more?: object) => {error: object}} */
export const failure = (code, message, more) => ({ error: assign({ code, message }, more) });

/** The element of a ref if it still is what it was shown as. @type {(ref: string) => {el?: Element, error?: object}} */
export const resolve = (ref) => {
  const lost = meaningOf(ref), el = lost && lost._key && lost._target.deref();
  if (!el || !isLive(el)) return failure('ref_not_found');
  const { _key, _said } = identify(el);
  return current.get(el) == lost && _key == lost._key ? { el } : failure('stale_ref', undefined, { now: _said });
};
