/**
 * DOM reads that a page cannot bend, and words as they are compared.
 *
 * A form's named inputs shadow the properties of the interface ([LegacyOverrideBuiltIns], HTML §4.10.3), in isolated
 * worlds too; so the tree is read with the prototypes' own methods.
 */
import { doc } from './call_cache.js';

export { doc };
const E = /** @type {any} */ (Element.prototype);
export const { assign } = Object;
export const max = Math.max, min = Math.min, round = Math.round;
export const now = Date.now;
/** @type {(text: string) => string[]} */
export const words = (text) => text.split(' ');
const READS = 'localName shadowRoot nodeType textContent isConnected parentNode firstChild nextSibling getAttribute matches getBoundingClientRect querySelectorAll getRootNode getAttributeNames contains closest scrollTop scrollHeight clientHeight clientWidth setAttribute removeAttribute';
/** Functions of the element for each of them, getters and methods. */
export const [tagOf, shadowOf, kindOf, textOf, isLive, parentOf, firstOf, nextOf, get, matches, boxOf, query, treeOf, attributeNames, holds, closest, scrollTopOf, scrollHeightOf, clientHeightOf, clientWidthOf, set, unset] = words(READS).map((name) =>
  Function.call.bind(E.__lookupGetter__(name) || E[name]),
);

/** A property that not all elements have, as the interface of this one defines it. @type {(it: any, name: string) => any} */
export const own = (it, name) => Reflect.get(Object.getPrototypeOf(it), name, it);

/** @type {(el: any, selector: string) => any[]} */
export const findAll = (el, selector) => [...query(el, selector)];
/** @type {(el: any, name: string) => string} "" where there is none */
export const attr = (el, name) => get(el, name) || '';
/** @type {(el: any, name: string) => string} */
export const aria = (el, name) => attr(el, 'aria-' + name);
/** Is it one of these words? @type {(text: any, words: string) => boolean} */
export const is = (text, words) => ` ${words} `.includes(` ${text} `);
/** What has words in it that are not its content: code, a default value, a replacement. */
export const isVoid = (tag) => is(tag, 'script style noscript title desc defs metadata symbol textarea iframe video audio canvas object progress meter');
export const isSvg = (el) => el instanceof SVGElement;
/** A page can name an image or a form like a property of the document too ([LegacyOverrideBuiltIns], HTML §3.1). @type {() => any} */
export const rootOf = () => own(doc, 'documentElement');
/** @type {(text: any) => boolean} */
export const hasWords = (text) => /\S/.test(text);
/** @type {(el: any) => boolean} */
export const isField = (el) => matches(el, 'input,select,textarea,[contenteditable]');

/** Children in the flat tree (CSS Scoping §3.3): of the open shadow root, else what a slot was given, else its own. */
export const kidsOf = (el) => {
  const kids = tagOf(el) == 'slot' ? el.assignedNodes() : [];
  // One by one: spreading a NodeList takes ten times as long.
  if (!kids[0]) for (let kid = firstOf(shadowOf(el) || el); kid; kid = nextOf(kid)) kids.push(kid);
  return kids;
};

/** The parent in the flat tree, if there is one. @type {(node: any) => any} */
export const flatParent = (node) => {
  const parent = parentOf(node);
  return parent && (kindOf(parent) != 1 ? parent.host : (shadowOf(parent) && own(node, 'assignedSlot')) || parent);
};

/** In the document or the shadow root that an element is in. @type {(el: any, selector: string, tree?: any) => any[]} */
const inTree = (el, selector, tree = treeOf(el)) => (tree == doc ? findAll(rootOf(), selector) : [...tree.querySelectorAll(selector)]);
/** @type {(el: any, id: string) => any} */
export const byId = (el, id) => id && inTree(el, '#' + CSS.escape(id))[0];

/** The elements that an ARIA attribute of ids refers to, in its order. @type {(el: any, name: string) => any[]} */
export const idrefs = (el, name) => words(fold(aria(el, name))).map((id) => byId(el, id)).filter((it) => it);

/** The elements that claim this one with `aria-owns`. @type {(el: any) => any[]} */
export const ownersOf = (el, id = attr(el, 'id')) => (id ? inTree(el, `[aria-owns~="${CSS.escape(id)}"]`) : []);

/** Characters that take no room: words for a model can hide in them. Joiners stay where scripts and emoji need them. */
export const strip = (text) => text.replace(/[\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udfff]|[\u200c\u200d](?![^\0-\u02ff\u2000-\u206f])/g, '');
/** Single spaces stay as they are: they are what most of a text's white space is. @type {(text: any) => string} */
export const fold = (text) => ('' + text).replace(/[^\S ]\s*| \s+/g, ' ').trim();
export const low = (text) => fold(text).toLowerCase();

/** @type {(text: string, limit: number) => string} */
export const cut = (text, limit) => (text.length > limit ? text.slice(0, limit - 1) + '…' : text);

/** Asking an element for them makes the engine look through the document. @type {(el: any) => HTMLLabelElement[]} */
export const labelsOf = (el) => [...((matches(el, '[id],label *') && tagOf(el) != 'form' && el.labels) || [])];
