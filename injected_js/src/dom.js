/**
 * DOM reads that a page cannot bend, and words as they are compared.
 *
 * A form's named inputs shadow the properties of the interface ([LegacyOverrideBuiltIns], HTML §4.10.3), in isolated
 * worlds too; so the tree is read with the prototypes' own methods.
 */
const N = Node.prototype, E = Element.prototype;
const free = (method) => Function.call.bind(method);
const getter = (proto, name) => free(Object.getOwnPropertyDescriptor(proto, name).get);

export const { assign } = Object;
export const now = () => performance.now();
/** @type {(el: Element) => string} */
export const tagOf = getter(E, 'localName');
/** @type {(node: Node) => number} */
export const kindOf = getter(N, 'nodeType');
/** @type {(node: Node) => string} */
export const textOf = getter(N, 'textContent');
/** @type {(node: Node) => boolean} */
export const isLive = getter(N, 'isConnected');
/** @type {(node: Node) => Node} */
export const parentOf = getter(N, 'parentNode');
const firstOf = getter(N, 'firstChild'), nextOf = getter(N, 'nextSibling'), get = free(E.getAttribute);
/** @type {(el: Element) => ShadowRoot | null} */
export const shadowOf = getter(E, 'shadowRoot');
/** @type {(el: Element, selector: string) => boolean} */
export const matches = free(E.matches);
/** @type {(el: Element, selector: string) => Element | null} */
export const closest = free(E.closest);
/** @type {(el: Element) => DOMRect} */
export const boxOf = free(E.getBoundingClientRect);
/** @type {(el: Element, selector: string) => Element[]} */
export const findAll = (el, selector) => [...E.querySelectorAll.call(el, selector)];
/** @type {(el: Element, name: string) => string} "" where there is none */
export const attr = (el, name) => get(el, name) || '';
/** @type {(el: Element, name: string) => string} */
export const aria = (el, name) => attr(el, 'aria-' + name);
/** Is it one of these words? @type {(text: string, words: string) => boolean} */
export const is = (text, words) => ` ${words} `.includes(` ${text} `);

/** Children in the flat tree (CSS Scoping §3.3): of the open shadow root, else what a slot was given, else its own. */
export const kidsOf = (el) => {
  const given = tagOf(el) == 'slot' ? el.assignedNodes() : [], out = [];
  if (given.length) return given;
  for (let node = firstOf(shadowOf(el) || el); node; node = nextOf(node)) out.push(node);
  return out;
};

/** The parent in the flat tree, or null. @type {(node: Node) => Element | null} */
export const flatParent = (node) => {
  const parent = parentOf(node), kind = parent && kindOf(parent);
  return kind == 11 ? parent.host : kind == 1 ? (shadowOf(parent) && node.assignedSlot) || parent : null;
};

/** Characters that take no room: words for a model can hide in them. Joiners stay where scripts and emoji need them. */
export const strip = (text) =>
  text.replace(/[\xad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]|(^|[\0-\u02ff])[\u200c\u200d]+|[\u200c\u200d]{2,}/g, '$1');
export const fold = (text) => strip('' + text).replace(/\s+/g, ' ').trim();

/** @type {(text: string, limit: number) => string} */
export const cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '') + '…' : text);

/** @type {(el: Element) => HTMLLabelElement[]} */
export const labelsOf = (el) => (matches(el, 'input,select,textarea,button,meter,progress,output') && el.labels ? [...el.labels] : []);
