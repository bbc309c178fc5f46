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
 * @property {string} role
 * @property {string} name
 * @property {{deref(): Element | undefined}} _target
 * @property {string} _key role, name without numbers that only count, and the item's words
 */

const { __agentBrowserIsolated: isolated, WeakRef } = globalThis, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0;

/** The element of a meaning while it stands for it. */
const liveOf = ({ _target }) => {
  const el = _target.deref();
  return el && isLive(el) && el;
};

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const steady = (text) => low(text).replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

/** The words of the nearest row, list item, article or card around it; a card is one of several alike siblings. */
const itemOf = (el) => {
  const items = turn._items;
  for (let item = el, levels = 0; item && item != doc.body && levels < 30; levels++, item = flatParent(item))
    if (
      matches(item, 'li,tr,article,dd,[role=row],[role=listitem],[role=article],[role=option],[role=treeitem]') ||
      (levels && [item.previousElementSibling, item.nextElementSibling].some((twin) => twin && twin.firstElementChild && tagOf(twin) + attr(twin, 'class') == tagOf(item) + attr(item, 'class')))
    ) {
      if (!items.has(item)) {
        let hash = 0;
        for (const letter of steady(kidsOf(item).map(textOf).join(' '))) hash = (hash * 31 + letter.codePointAt(0)) | 0;
        items.set(item, hash);
      }
      return items.get(item);
    }
};

/** What an element is now: role, the name by which it is known, and the key of both. */
export const identify = (el) => {
  const role = roleOf(el, 1), name = nameOf(el, role == 'generic' ? 2 : 1);
  return { role, name: cut(name, 200), _key: `${role} ${steady(name)} ${itemOf(el)}` };
};

const mint = (meaning, el) => {
  meaning._target = WeakRef ? new WeakRef(el) : { deref: () => el };
  meanings.set((meaning.ref = (isolated ? '' : 'e') + ++last), meaning);
  return meaning;
};

/** The ref of an element, as it is now. @type {(el: Element, now?: object) => {ref: string, role: string, name: string}} */
export const introduce = (el, now = identify(el)) => {
  let meaning = current.get(el);
  if (!meaning || meaning._key != now._key) current.set(el, (meaning = mint(now, el)));
  if (!isolated) el.setAttribute(STAMP, meaning.ref);
  return brief(meaning);
};
const brief = ({ ref, role, name }) => ({ ref, role, name });

/** A number for "go on from this node, for so many". */
export const placeRef = (first, _span) => mint({ _span }, first).ref;
export const meaningOf = (ref) => meanings.get('' + ref);

/** Old stamps go at each snapshot; what refs meant goes with the elements once there are many. */
export const clearStamps = () => {
  if (!isolated) for (const el of findAll(doc.documentElement, `[${STAMP}]`)) el.removeAttribute(STAMP);
  if (meanings.size > 2e4) for (const [ref, meaning] of meanings) if (!liveOf(meaning)) meanings.delete(ref);
};

/** @type {(code: string, message: string, more?: object) => {error: object}} */
export const failure = (code, message, more) => ({ error: assign({ code, message, nearest: [] }, more) });

const say = ({ role, name }) => `${role} "${name}"`;

/** The element of a ref if it still is what it was shown as. @type {(ref: string) => {el?: Element, was?: object, error?: object}} */
export const resolve = (ref) => {
  const lost = meaningOf(ref);
  if (!lost || !lost.role) return failure('ref_not_found', ref + ' is not a ref of this document');
  const el = liveOf(lost), was = brief(lost), now = el ? identify(el) : undefined, words = low(lost.name);
  if (el && current.get(el) == lost && now._key == lost._key) return { el, was };
  const nearest = [...meanings.values()]
    .filter((it) => it != lost && it.role == lost.role && current.get(liveOf(it)) == it && (low(it.name).includes(words) || words.includes(low(it.name))))
    .sort((a, b) => (b.name == lost.name) - (a.name == lost.name))
    .slice(0, 3)
    .map(brief);
  const [best] = nearest, same = el && say(now) == say(lost);
  return failure('stale_ref', `${ref} was ${say(lost)}, ${el ? 'now ' + (same ? 'in another item' : say(now)) : 'removed'}` + (best ? `; nearest: ${best.ref} ${say(best)}` : ''), { was, now, nearest });
};
