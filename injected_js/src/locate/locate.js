/** Finds what a locator describes: steps that narrow down from the whole document. */
import { boxOf, flatParent, is, matches, shadowOf, tagOf } from '../core/dom.js';
import { pause } from '../checks/pause.js';
import { READS } from './reads.js';

/**
 * @typedef {{text: string, exact: boolean} | {source: string, flags: string}} Pattern words, or a regular expression
 *
 * One step; exactly one of its properties is given, but for `name`, which goes with `role`.
 * @typedef {object} Step
 * @property {string} [css]
 * @property {string} [testid] the value of `data-testid`
 * @property {string} [role]
 * @property {Pattern} [name]
 * @property {Pattern} [text]
 * @property {Pattern} [label]
 * @property {Pattern} [placeholder]
 * @property {Pattern} [alt]
 * @property {Pattern} [title]
 * @property {string} [xpath]
 * @property {number | null} [ref] the number of an element of this document; null finds nothing
 * @property {Pattern} [hasText]
 * @property {Pattern} [hasNotText]
 * @property {Step[]} [has] something below matches
 * @property {Step[]} [hasNot]
 * @property {Step[]} [and] the element itself matches too
 * @property {Step[]} [or] or what these steps find in the document
 * @property {boolean} [visible]
 * @property {number} [nth] from the end when negative
 */

/**
 * @typedef {object} Located one element
 * @property {string} [ref]
 * @property {string} tag
 * @property {string} role
 * @property {string} name
 * @property {Record<string, string>} attrs
 * @property {string} text
 * @property {boolean} visible
 * @property {boolean} enabled
 * @property {boolean} editable
 * @property {boolean} checked
 * @property {string | null} value
 * @property {string[] | null} values
 * @property {boolean} focused
 * @property {unknown} [read] the value of the read that was asked for
 */

const NAME_CHARS = 200, TEXT_CHARS = 5000, ATTRIBUTE_CHARS = 2000, ERROR_CHARS = 300, POLL_MS = 30;
const NOT_RENDERED = 'script style noscript head template title';

const fold = (text) => String(text == null ? '' : text).replace(/\s+/g, ' ').trim();

/** @type {(want?: Pattern) => (text: string) => boolean} */
const matcher = (want) => {
  if (want == null) return () => true;
  if ('source' in want) {
    const pattern = new RegExp(want.source, want.flags);
    return (text) => pattern.test(fold(text));
  }
  const words = fold(want.text), lower = words.toLowerCase();
  return want.exact ? (text) => fold(text) == words : (text) => fold(text).toLowerCase().includes(lower);
};

/** Elements in the shadow root and in the element itself. */
const childrenOf = (node) => [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children];

/** All elements below, in document order. */
const below = (root) => {
  const found = [], todo = childrenOf(root).reverse();
  for (let el; (el = todo.pop()); ) {
    found.push(el);
    todo.push(...childrenOf(el).reverse());
  }
  return found;
};

const isVisible = (el) => {
  const box = boxOf(el), style = getComputedStyle(el);
  if (style.display == 'contents') return [...el.children].some(isVisible) || !!fold(el.textContent);
  return box.width > 0 && box.height > 0 && style.visibility == 'visible' && (!el.checkVisibility || el.checkVisibility());
};

/** Is it out of the accessibility tree? */
const isHidden = (el) => {
  for (let at = el; at; at = flatParent(at)) if (matches(at, '[aria-hidden=true]') || at.inert || getComputedStyle(at).display == 'none') return true;
  return getComputedStyle(el).visibility != 'visible';
};

const wordsOf = (el) => (matches(el, 'input[type=button],input[type=submit],input[type=reset]') ? el.value : el.innerText == null ? el.textContent : el.innerText);
const isSilent = (el) => is(tagOf(el), NOT_RENDERED);

/** The innermost elements whose words match. */
const innermost = (root, isMatch) => {
  const found = [], todo = childrenOf(root).reverse();
  for (let el; (el = todo.pop()); ) {
    if (isSilent(el)) continue;
    const inner = childrenOf(el).filter((child) => !isSilent(child));
    const isDeeper = inner.some((child) => [child, ...below(child)].some((it) => !isSilent(it) && isMatch(wordsOf(it))));
    if (isMatch(wordsOf(el)) && !isDeeper) found.push(el);
    else todo.push(...inner.reverse());
  }
  return found;
};

const byAttribute = (name) => (root, step) => {
  const isMatch = matcher(step[name]);
  return below(root).filter((el) => el.hasAttribute(name) && isMatch(el.getAttribute(name)));
};

/** How each kind of step finds elements below a root. */
const FINDERS = {
  css: (root, { css }) => [root, ...below(root).filter(shadowOf).map(shadowOf)].reduce((found, part) => [...found, ...part.querySelectorAll(css)], []),
  testid: (root, { testid }) => below(root).filter((el) => el.getAttribute('data-testid') === testid),
  role(root, { role, name }) {
    const isMatch = matcher(name);
    return below(root).filter((el) => __agentBrowser.roleOf(el) == role && !isHidden(el) && (name == null || isMatch(__agentBrowser.nameOf(el))));
  },
  text: (root, { text }) => innermost(root, matcher(text)),
  label(root, { label }) {
    const isMatch = matcher(label), labelsOf = (el) => (tagOf(el) != 'form' && el.labels) || [];
    return below(root).filter(
      (el) =>
        [...labelsOf(el)].some((it) => isMatch(it.innerText)) ||
        (el.hasAttribute('aria-label') && isMatch(el.getAttribute('aria-label'))) ||
        (el.hasAttribute('aria-labelledby') && isMatch(__agentBrowser.nameOf(el))),
    );
  },
  placeholder: byAttribute('placeholder'),
  alt: byAttribute('alt'),
  title: byAttribute('title'),
  xpath(root, { xpath }) {
    const found = document.evaluate(root != document && xpath[0] == '/' ? '.' + xpath : xpath, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
    return Array.from({ length: found.snapshotLength }, (_, i) => found.snapshotItem(i)).filter((node) => node.nodeType == 1);
  },
  ref(_root, { ref }) {
    const el = ref == null ? null : __agentBrowser.element(ref);
    return el && el.nodeType ? [el] : [];
  },
};

/** How each kind of step keeps some of the elements that were found. */
const FILTERS = {
  nth: (found, { nth }) => found.slice(nth < 0 ? found.length + nth : nth).slice(0, 1),
  visible: (found, { visible }) => found.filter((el) => isVisible(el) == visible),
  hasText(found, { hasText }) {
    const isMatch = matcher(hasText);
    return found.filter((el) => isMatch(wordsOf(el)));
  },
  hasNotText(found, { hasNotText }) {
    const isMatch = matcher(hasNotText);
    return found.filter((el) => !isMatch(wordsOf(el)));
  },
  has: (found, { has }) => found.filter((el) => find(has, el).length),
  hasNot: (found, { hasNot }) => found.filter((el) => !find(hasNot, el).length),
  and(found, step) {
    const others = new Set(find(step.and));
    return found.filter((el) => others.has(el));
  },
  or: (found, step) => [...new Set([...found, ...find(step.or)])].sort((a, b) => (a.compareDocumentPosition(b) & 4 ? -1 : 1)),
};

/** @type {(steps: Step[], root?: any) => any[]} */
const find = (steps, root = document) => {
  let found = [root];
  for (const step of steps) {
    const kind = Object.keys(FINDERS).find((key) => key in step);
    if (kind) {
      const next = new Set();
      for (const at of found) for (const el of FINDERS[kind](at, step)) next.add(el);
      found = [...next];
    } else {
      const filter = Object.keys(FILTERS).find((key) => key in step);
      if (!filter) throw new Error('unknown step');
      found = FILTERS[filter](found, step);
    }
  }
  return found;
};

const isEditable = (el) => el.isContentEditable || (is(tagOf(el), 'input textarea select') && !el.readOnly);

/** @type {(el: any, read?: [string, any]) => Located} */
const describe = (el, read) => {
  const attrs = {}, isPassword = el.type == 'password';
  const isDisabled = matches(el, ':disabled') || !!el.closest('[aria-disabled=true]');
  for (const { name, value } of el.attributes) if (!(isPassword && name == 'value')) attrs[name] = value.slice(0, ATTRIBUTE_CHARS);
  return {
    tag: tagOf(el),
    role: __agentBrowser.roleOf(el) || 'generic',
    name: fold(__agentBrowser.nameOf(el)).slice(0, NAME_CHARS),
    attrs,
    text: fold(wordsOf(el)).slice(0, TEXT_CHARS),
    visible: isVisible(el),
    enabled: !isDisabled,
    editable: !isDisabled && isEditable(el),
    checked: matches(el, 'input[type=checkbox],input[type=radio]') ? el.checked : el.getAttribute('aria-checked') == 'true',
    value: isPassword || el.value == null || typeof el.value == 'object' ? null : String(el.value).slice(0, TEXT_CHARS),
    values: el.selectedOptions ? [...el.selectedOptions].map((it) => it.value) : null,
    focused: el.getRootNode().activeElement == el,
    read: read && READS[read[0]](el, read[1]),
  };
};

/** The place of this frame in its parent, -1 for the top frame. */
const frameIndex = () => (parent == window ? -1 : [].indexOf.call(parent, window));

/**
 * Finds elements and describes the first `limit` of them, or the one at the place `at`. With `seen`, the `state` of an
 * earlier reply, it waits up to `ms` until the reply would differ. `read` names a read of each, and its argument.
 * @type {(steps: Step[], options?: {limit?: number, at?: number, seen?: string | null, ms?: number, read?: [string, any]}) =>
 *   Promise<{n: number, items: Located[], state: string, frame: number} | {error: string}>}
 */
export const locate = async (steps, { limit = 10, at = -1, seen = null, ms = 0, read } = {}) => {
  const end = performance.now() + ms;
  for (;;) {
    let found;
    try {
      found = find(steps);
    } catch (e) {
      return { error: String(e).slice(0, ERROR_CHARS) };
    }
    const shown = at >= 0 ? found.slice(at, at + 1) : found.slice(0, limit), items = shown.map((el) => describe(el, read));
    const state = JSON.stringify([found.length, items]);
    if (state != seen || performance.now() >= end) {
      shown.forEach((el, i) => (items[i].ref = __agentBrowser.refOf(el)[0]));
      return { n: found.length, items, state, frame: frameIndex() };
    }
    await pause(POLL_MS);
  }
};
