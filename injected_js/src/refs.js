/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { assign, attr, cut, doc, findAll, flatParent, isLive, kidsOf, low, matches, rootOf, tagOf, textOf } from './dom.js';
import { INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { roleOf } from './roles.js';
import { nameOf } from './names.js';
import { turn } from './turn.js';

/**
 * @typedef {object} Meaning
 * @property {string} ref
 * @property {string} role
 * @property {string} name
 * @property {{deref(): Element | undefined}} _target
 * @property {string} _key name without numbers that only count
 * @property {string} _item fingerprint of the item's words
 */

const { __agentBrowserIsolated: isolated, WeakRef: Weak } = globalThis, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

const weak = (el) => (Weak ? new Weak(el) : { deref: () => el });
/** The element of a meaning while it stands for it. */
const liveOf = (meaning) => {
  const el = meaning._target.deref();
  return el && isLive(el) && el;
};

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const keyOf = (text) => low(text).replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

/** The words of the nearest row, list item, article or card around it; a card is one of several alike siblings. */
const itemOf = (el) => {
  for (let item = el, levels = 0; item && item != doc.body && levels < 30; levels++, item = flatParent(item))
    if (
      matches(item, 'li,tr,article,dd,[role=row],[role=listitem],[role=article],[role=option],[role=treeitem]') ||
      (levels && [item.previousElementSibling, item.nextElementSibling].some((twin) => twin && twin.childElementCount && tagOf(twin) + attr(twin, 'class') == tagOf(item) + attr(item, 'class')))
    ) {
      const items = turn._items;
      if (!items.has(item)) {
        const words = keyOf(kidsOf(item).map(textOf).join(' '));
        let hash = 0;
        for (let i = 0; i < words.length; i++) hash = (hash * 31 + words.charCodeAt(i)) | 0;
        items.set(item, words.length + ' ' + hash);
      }
      return items.get(item);
    }
};

/** The name by which an element is known: of what only has a handler, its content. */
export const knownName = (el, role) => nameOf(el, { _lean: 1, _content: role == 'generic', _visible: !(ROLE_FLAGS[role] & INTERACTIVE) && role != 'generic' });

const mint = (meaning) => {
  meanings.set((meaning.ref = (isolated ? '' : 'e') + ++last), meaning);
  return meaning.ref;
};

/** The ref of an element as it is now. @type {(el: Element, role: string, name: string) => string} */
export const refOf = (el, role, name) => {
  const now = { role, name: cut(name, 80), _key: keyOf(name), _item: itemOf(el), _target: weak(el) }, old = current.get(el);
  if (!old || !agree(old, now)) current.set(el, now), mint(now);
  const { ref } = current.get(el);
  if (!isolated) el.setAttribute(STAMP, ref);
  return ref;
};
const agree = (a, b) => a.role == b.role && a._key == b._key && a._item == b._item;

/** A number for "go on from here to there". */
export const placeRef = (first, last) => mint({ _target: weak(first), _last: weak(last) });
export const meaningOf = (ref) => meanings.get('' + ref);

/** Old stamps go at each snapshot; what refs meant goes with the elements once there are many. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(rootOf(), `[${STAMP}]`)) el.removeAttribute(STAMP);
  if (meanings.size > 2e4) for (const [ref, meaning] of meanings) if (!liveOf(meaning)) meanings.delete(ref);
};

/** @type {(code: string, message: string, more?: object) => {error: object}} */
export const failure = (code, message, more) => ({ error: assign({ code, message, nearest: [] }, more) });

const brief = ({ ref, role, name }) => ({ ref, role, name });
const say = ({ role, name }) => `${role} "${name}"`;

/** @type {(el: Element) => {ref: string, role: string, name: string}} */
export const introduce = (el) => {
  const role = roleOf(el, 1), name = knownName(el, role);
  return { ref: refOf(el, role, name), role, name: cut(name, 80) };
};

/** The element of a ref if it still is what it was shown as. @type {(ref: string) => {el?: Element, was?: object, error?: object}} */
export const resolve = (ref) => {
  const lost = meaningOf(ref);
  if (!lost || !lost.role) return failure('ref_not_found', ref + ' is not a ref of this document');
  const el = liveOf(lost), was = brief(lost), nearest = [];
  let now, what = 'removed';
  if (el) {
    const role = roleOf(el, 1), name = knownName(el, role);
    now = say({ role, name: cut(name, 80) });
    if (current.get(el) == lost && agree(lost, { role, _key: keyOf(name), _item: itemOf(el) })) return { el, was };
    what = now == say(lost) ? 'now in another item' : 'now ' + now;
  }
  // Live refs that resemble it, best first.
  for (const meaning of meanings.values()) {
    const { _key, role } = meaning, other = liveOf(meaning);
    meaning._score = (role == lost.role) + (_key == lost._key) + (_key && lost._key && (_key.includes(lost._key) || lost._key.includes(_key)) ? 2 : 0);
    if (meaning._score > 2 && meaning != lost && current.get(other) == meaning) nearest.push(meaning);
  }
  nearest.sort((a, b) => b._score - a._score).splice(3);
  return failure('stale_ref', `${ref} was ${say(lost)}, ${what}` + nearest.slice(0, 1).map((best) => `; nearest: ${best.ref} ${say(best)}`), { was, now, nearest: nearest.map(brief) });
};
