/**
 * Refs: what a number means, and whether it still means it.
 *
 * A ref is bound to the element, its role, its name and, in a repeated item, the words of that item: a recycled row keeps
 * element, role and name "Delete" but belongs to somebody else.
 */
import { attr, cut, findAll, flatParent, fold, isLive, kidsOf, tagOf, textOf, within } from './dom.js';
import { INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { roleOf } from './roles.js';
import { nameOf } from './names.js';
import { turn } from './turn.js';

/**
 * @typedef {object} Meaning
 * @property {string} _id
 * @property {{deref(): Element | undefined}} _target
 * @property {string} _role
 * @property {string} _name
 * @property {string} _item fingerprint of the item's words
 */

export const isolated = !!globalThis.__agentBrowserIsolated;
const prefix = isolated ? '' : 'e', STAMP = 'data-agent-ref';
/** @type {Map<string, Meaning>} */
const meanings = new Map();
/** @type {WeakMap<Element, Meaning>} */
const current = new WeakMap();
let last = 0, stamped = [];

const weak = (el) => (globalThis.WeakRef ? new WeakRef(el) : { deref: () => el });

/** Numbers that only count: "(3)", "3 left". More would be folded at the price of acting on another element. */
const same = (text) =>
  fold(text)
    .toLowerCase()
    .replace(/\(\d+\+?\)|\b\d[\d.,]*\+?(?= (left|new|unread|more|remaining|seconds?|minutes?|hours?) ?\b)/g, '#');

/** The nearest row, list item, article or card around it; a card is one of several alike siblings. */
const itemOf = (el) => {
  for (let box = el; box && box != document.body; box = flatParent(box)) {
    const tag = tagOf(box);
    if (/^(li|tr|article|dd)$/.test(tag) || /\b(row|listitem|article|option|treeitem)\b/.test(attr(box, 'role'))) return box;
    if (box != el)
      for (const twin of [box.previousElementSibling, box.nextElementSibling])
        if (twin && twin.localName == tag && twin.className == box.className && twin.childElementCount && (tag != 'div' || box.className || twin.childElementCount == box.childElementCount)) return box;
  }
};

const itemPrint = (el) => {
  const item = itemOf(el);
  if (!item) return '';
  let print = turn._items.get(item);
  if (print == null) {
    const words = same(item.shadowRoot ? kidsOf(item).map(textOf).join(' ') : textOf(item));
    let hash = words.length;
    for (let i = 0; i < words.length; i++) hash = (hash * 31 + words.charCodeAt(i)) | 0;
    turn._items.set(item, (print = hash + ' ' + cut(words, 60)));
  }
  return print;
};

/** The name by which an element is known: of anything with a handler, its content. */
export const knownName = (el, role) => nameOf(el, { _lean: 1, _content: role == 'generic', _seenOnly: !(ROLE_FLAGS[role] & INTERACTIVE) });

/** @type {(el: Element, role: string, name: string) => string} the ref of an element as it is now */
export const refOf = (el, role, name) => {
  const item = itemPrint(el), key = same(name);
  let meaning = current.get(el);
  if (!meaning || meaning._role != role || meaning._key != key || meaning._item != item) {
    meaning = { _id: prefix + ++last, _target: weak(el), _role: role, _name: name, _key: key, _item: item };
    current.set(el, meaning);
    meanings.set(meaning._id, meaning);
  }
  if (!isolated) {
    el.setAttribute(STAMP, meaning._id);
    stamped.push(el);
  }
  return meaning._id;
};

/** A number for "go on from here". */
export const placeRef = (list, from, to) => {
  const id = prefix + ++last;
  meanings.set(id, { _id: id, _target: weak(list[from]), _last: weak(list[to - 1]) });
  return id;
};

export const placeOf = (ref) => meanings.get('' + ref);

/** Old stamps go at each snapshot; meanings of elements that are gone go when they pile up. */
export const clearStamps = () => {
  if (!isolated) {
    for (const el of stamped.concat(findAll(document, `[${STAMP}]`))) el.removeAttribute(STAMP);
    stamped = [];
  }
  if (meanings.size > 20000) for (const [id, meaning] of meanings) if (!meaning._target.deref() || (!globalThis.WeakRef && !isLive(meaning._target.deref()))) meanings.delete(id);
};

const say = (role, name) => role + (name ? ' ' + JSON.stringify(cut(name, 80)) : '');

/** Live refs that resemble what is gone, best first. */
const nearestTo = (lost) => {
  const found = [];
  const words = lost._key || '';
  for (const meaning of meanings.values()) {
    const el = meaning._target.deref();
    if (meaning == lost || !meaning._role || !el || !isLive(el) || current.get(el) != meaning) continue;
    const other = meaning._key;
    const score = (meaning._role == lost._role ? 2 : 0) + (words && other ? (words == other ? 4 : words.includes(other) || other.includes(words) ? 3 : words.split(' ')[0] == other.split(' ')[0] ? 1 : 0) : 0);
    if (score > 2) found.push([score, meaning]);
  }
  return found
    .sort((a, b) => b[0] - a[0])
    .slice(0, 3)
    .map(([, { _id, _role, _name }]) => ({ ref: _id, role: _role, name: cut(_name, 80) }));
};

/** @type {(code: string, message: string, more?: object) => {error: object}} */
export const failure = (code, message, more) => ({ error: Object.assign({ code, message }, more) });

/** The element of a ref if it still is what it was shown as. @type {(ref: string) => {el?: Element, meaning?: Meaning, error?: object}} */
export const resolve = (ref) => {
  const meaning = meanings.get('' + ref);
  if (!meaning || !meaning._role) return failure('ref_not_found', ref + ' is not a ref of this document', { nearest: [] });
  const el = meaning._target.deref(), was = { role: meaning._role, name: meaning._name };
  const stale = (what, now) => {
    const nearest = nearestTo(meaning), [best] = nearest;
    return failure('stale_ref', `${ref} was ${say(was.role, was.name)}, ${what}` + (best ? `; nearest: ${best.ref} ${say(best.role, best.name)}` : ''), { was, now, nearest });
  };
  if (!el || !isLive(el)) return stale('removed');
  const role = roleOf(el, 1), name = knownName(el, role), now = { role, name };
  if (current.get(el) != meaning || role != was.role || same(name) != meaning._key) return stale('is now ' + say(role, name), now);
  if (itemPrint(el) != meaning._item) return stale('now belongs to ' + JSON.stringify(itemPrint(el).replace(/^\S+ /, '')), now);
  return { el, meaning };
};

/** @type {(el: Element) => {ref: string, role: string, name: string}} */
export const introduce = (el) => {
  const role = roleOf(el, 1), name = knownName(el, role);
  return { ref: refOf(el, role, name), role, name: cut(name, 80) };
};
