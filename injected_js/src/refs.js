/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { assign, attr, cut, findAll, flatParent, fold, is, isLive, kidsOf, matches, tagOf, textOf } from './dom.js';
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

const isolated = !!globalThis.__agentBrowserIsolated, STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0, stamped = [];

const weak = (el) => (globalThis.WeakRef ? new WeakRef(el) : { deref: () => el });

/** Numbers that only count: "(3)", "3 left". Folding more would cost acting on another element. */
const keyOf = (text) => fold(text).toLowerCase().replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');

/** The words of the nearest row, list item, article or card around it; a card is one of several alike siblings. */
const itemOf = (el) => {
  let item = el, levels = 0;
  for (; item && item != document.body && ++levels < 30; item = flatParent(item)) {
    if (
      matches(item, 'li,tr,article,dd,[role=row],[role=listitem],[role=article],[role=option],[role=treeitem]') ||
      (item != el && [item.previousElementSibling, item.nextElementSibling].some((twin) => twin && tagOf(twin) == tagOf(item) && attr(twin, 'class') == attr(item, 'class') && twin.childElementCount))
    ) {
      let print = turn._items.get(item), hash = 0;
      if (!print) {
        const words = keyOf(kidsOf(item).map(textOf).join(' '));
        for (let i = 0; i < words.length; i++) hash = (hash * 31 + words.charCodeAt(i)) | 0;
        turn._items.set(item, (print = cut(words, 60) + hash));
      }
      return print;
    }
  }
  return '';
};

/** The name by which an element is known: of what only has a handler, its content. */
export const knownName = (el, role) => nameOf(el, { _lean: 1, _content: role == 'generic', _visible: !(ROLE_FLAGS[role] & INTERACTIVE) && role != 'generic' });

const mint = (meaning) => {
  meanings.set((meaning.ref = (isolated ? '' : 'e') + ++last), meaning);
  return meaning;
};

/** The ref of an element as it is now. @type {(el: Element, role: string, name: string) => string} */
export const refOf = (el, role, name) => {
  const _item = itemOf(el), _key = keyOf(name);
  let meaning = current.get(el);
  if (!meaning || meaning.role != role || meaning._key != _key || meaning._item != _item) current.set(el, (meaning = mint({ _target: weak(el), role, name: cut(name, 80), _key, _item })));
  if (!isolated) {
    el.setAttribute(STAMP, meaning.ref);
    stamped.push(el);
  }
  return meaning.ref;
};

/** A number for "go on from here to there". */
export const placeRef = (first, last) => mint({ _target: weak(first), _last: weak(last) }).ref;
export const meaningOf = (ref) => meanings.get('' + ref);

/** Old stamps go at each snapshot; what refs meant goes with the elements once there are many. */
export const clearStamps = () => {
  if (!isolated) for (const el of stamped.concat(findAll(document.documentElement, `[${STAMP}]`))) el.removeAttribute(STAMP);
  stamped = [];
  if (meanings.size > 2e4)
    for (const [ref, { _target }] of meanings) {
      const el = _target.deref();
      if (!el || !isLive(el)) meanings.delete(ref);
    }
};

/** @type {(code: string, message: string, more?: object) => {error: object}} */
export const failure = (code, message, more) => ({ error: assign({ code, message, nearest: [] }, more) });

const brief = ({ ref, role, name }) => ({ ref, role, name });
const say = ({ role, name }) => role + (name && ` "${name}"`);

/** The element of a ref if it still is what it was shown as. @type {(ref: string) => {el?: Element, was?: object, error?: object}} */
export const resolve = (ref) => {
  const lost = meaningOf(ref);
  if (!lost || !lost.role) return failure('ref_not_found', ref + ' is not a ref of this document');
  const el = lost._target.deref(), live = el && isLive(el), now = live ? { role: roleOf(el, 1) } : 0;
  if (live) {
    now.name = cut(knownName(el, now.role), 80);
    if (current.get(el) == lost && now.role == lost.role && keyOf(knownName(el, now.role)) == lost._key && itemOf(el) == lost._item) return { el, was: brief(lost) };
  }
  // Live refs that resemble it, best first.
  const nearest = [];
  for (const meaning of meanings.values()) {
    const { _key, _target, role } = meaning, other = _target.deref();
    meaning._score = (role == lost.role) + (_key && lost._key && (_key.includes(lost._key) || lost._key.includes(_key)) ? 2 : 0) + (_key == lost._key);
    if (meaning._score > 2 && meaning != lost && other && isLive(other) && current.get(other) == meaning) nearest.push(meaning);
  }
  nearest.sort((a, b) => b._score - a._score).splice(3);
  const what = !live ? 'removed' : say(now) == say(lost) ? 'now of another item' : 'now ' + say(now);
  return failure('stale_ref', `${ref} was ${say(lost)}, ${what}` + (nearest[0] ? `; nearest: ${nearest[0].ref} ${say(nearest[0])}` : ''), { was: brief(lost), now: now || undefined, nearest: nearest.map(brief) });
};

/** @type {(el: Element) => {ref: string, role: string, name: string}} */
export const introduce = (el) => {
  const role = roleOf(el, 1), name = knownName(el, role);
  return { ref: refOf(el, role, name), role, name: cut(name, 80) };
};
