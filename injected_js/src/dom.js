/**
 * DOM reads that a page cannot bend.
 *
 * A form's named inputs and a document's named images shadow the properties of the interface they sit on
 * (HTML §7.3.3, [LegacyOverrideBuiltIns]), in isolated worlds too; so the tree is read with the prototypes' own getters.
 */

const getter = (type, name) => {
  const get = Object.getOwnPropertyDescriptor(type.prototype, name).get;
  return (node) => get.call(node);
};

/** @type {(el: Element) => string} */
export const tagOf = getter(Element, 'localName');
/** @type {(node: Node) => number} */
export const kindOf = getter(Node, 'nodeType');
/** @type {(node: Node) => Node} */
export const parentOf = getter(Node, 'parentNode');
/** @type {(node: Node) => Node | null} */
export const nextOf = getter(Node, 'nextSibling');
export const prevOf = getter(Node, 'previousSibling');
/** @type {(el: Element) => ShadowRoot | null} */
export const shadowOf = getter(Element, 'shadowRoot');
/** @type {(node: Node) => string} */
export const textOf = getter(Node, 'textContent');
export const isLive = getter(Node, 'isConnected');
const firstOf = getter(Node, 'firstChild');
const E = Element.prototype;

/** @type {(el: Element, name: string) => string | null} */
export const attr = (el, name) => E.getAttribute.call(el, name);
/** @type {(el: Element, selector: string) => boolean} */
export const matches = (el, selector) => E.matches.call(el, selector);
/** @type {(el: Element) => DOMRect} */
export const boxOf = (el) => E.getBoundingClientRect.call(el);
/** @type {(el: Element, selector: string) => Element[]} */
export const findAll = (el, selector) => [...(el == document ? Document.prototype : E).querySelectorAll.call(el, selector)];

/** Children in the flat tree (CSS Scoping §3.3): of the open shadow root, else what a slot was given, else its own. */
export const kidsOf = (el) => {
  let node = shadowOf(el);
  if (!node) {
    if (tagOf(el) == 'slot') {
      const given = el.assignedNodes();
      if (given.length) return given;
    }
    node = el;
  }
  const out = [];
  for (node = firstOf(node); node; node = nextOf(node)) out.push(node);
  return out;
};

/** The parent in the flat tree, or null. @type {(node: Node) => Element | null} */
export const flatParent = (node) => {
  const parent = parentOf(node);
  const kind = parent && kindOf(parent);
  return kind == 11 ? parent.host : kind == 1 ? (shadowOf(parent) && node.assignedSlot) || parent : null;
};

/** @type {(inner: Node, outer: Node) => boolean} */
export const within = (inner, outer) => {
  for (; inner; inner = flatParent(inner)) if (inner == outer) return true;
  return false;
};

/** White space folded, and without characters that take no room: a page can hide words for a model in them. */
export const fold = (text) => strip(text).replace(/\s+/g, ' ').trim();

const INVISIBLE = /[\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]|(^|[\0-\u02ff])[\u200c\u200d]+|[\u200c\u200d]{2,}/g;
/** Joiners stay where scripts and emoji need them. */
export const strip = (text) => text.replace(INVISIBLE, '$1');

/** @type {(text: string, limit: number) => string} */
export const cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '') + '…' : text);

/** `div#cookie-banner.big`: how a person would point at it. */
export const describe = (el) => {
  const id = attr(el, 'id'), classes = attr(el, 'class');
  return tagOf(el) + (id ? '#' + id : classes ? '.' + fold(classes).split(' ').slice(0, 2).join('.') : '');
};
