/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 for the native parts. */
import { attr, fold, findAll, flatParent, kidsOf, kindOf, tagOf, textOf, boxOf } from './dom.js';
import { APART, FROM_CONTENT, INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { roleOf } from './roles.js';
import { isGone, isHidden, isInkless, isUnseen, styleOf } from './style.js';
import { turn } from './turn.js';

/** How a node was reached. */
const ITSELF = 0, CHILD = 1, REFERENCE = 2, LABEL = 3;

/**
 * @typedef {object} Walk
 * @property {Element} _root whose name it is
 * @property {Set<Element>} _seen
 * @property {boolean} [_referenced] inside aria-labelledby: it is followed once
 * @property {boolean} [_hidden] the referenced element is hidden, so all below counts (step 2A)
 * @property {boolean} [_seenOnly] leave out what a person cannot see
 * @property {boolean} [_lean] name from content only for what is interactive, and headings
 */

/** @type {(el: Element, name: string) => Element[]} */
const idrefs = (el, name) => {
  const ids = attr(el, name), root = ids && el.getRootNode();
  return ids ? ids.split(/\s+/).map((id) => id && root.getElementById && root.getElementById(id)).filter(Boolean) : [];
};

const from = (target, walk, how) =>
  compute(target, { _root: walk._root, _seen: how == REFERENCE ? new Set() : walk._seen, _referenced: how == REFERENCE || walk._referenced, _hidden: isHidden(target) }, how, 1);

const labelledBy = (el, name, walk) => fold(idrefs(el, name).map((target) => from(target, walk, REFERENCE)).join(' '));

/** What the author wrote on the element: aria-labelledby, aria-label, title. @type {(el: Element, noTitle?: any) => string} */
export const authorName = (el, noTitle) =>
  labelledBy(el, 'aria-labelledby', { _root: el, _seen: new Set() }) || fold(attr(el, 'aria-label') || '') || (noTitle ? '' : fold(attr(el, 'title') || ''));

/** @type {(el: Element, options?: Partial<Walk>) => string} */
export const nameOf = (el, options) => fold(compute(el, Object.assign({ _root: el, _seen: new Set() }, options), ITSELF, 0));

/** @type {(el: Element, name?: string) => string} */
export const descriptionOf = (el, name) => {
  const said = labelledBy(el, 'aria-describedby', { _root: el, _seen: new Set() }) || fold(attr(el, 'aria-description') || '');
  if (said) return said;
  const title = fold(attr(el, 'title') || '');
  return title == (name == null ? nameOf(el) : name) ? '' : title;
};

/** Step 2C: a control inside somebody's label counts with its value. */
const embeddedValue = (el, role) => {
  const isInput = /^(input|textarea)$/.test(tagOf(el));
  if (/^(textbox|searchbox)$/.test(role)) return isInput ? (el.type == 'password' ? '' : el.value) : textOf(el);
  if (/^(combobox|listbox)$/.test(role)) {
    if (el.selectedOptions) return [...el.selectedOptions].map(textOf).join(' ');
    if (isInput) return el.value;
    const chosen = [el, ...idrefs(el, 'aria-owns')].map((owner) => findAll(owner, '[aria-selected=true]').map(textOf).join(' ')).join(' ');
    return fold(chosen) ? chosen : role == 'combobox' ? textOf(el) : '';
  }
  if (/^(slider|spinbutton|scrollbar|progressbar|meter)$/.test(role)) return attr(el, 'aria-valuetext') || attr(el, 'aria-valuenow') || (el.value == null ? '' : '' + el.value);
};

/** Step 2E: what HTML and SVG give. */
const nativeName = (el, tag, walk, how) => {
  let found = '';
  const type = el.type;
  if (how != CHILD && el.labels && el.labels.length && /^(input|select|textarea|button|meter|progress|output)$/.test(tag))
    found = [...el.labels].map((label) => from(label, walk, LABEL)).join(' ');
  if (fold(found)) return found;
  if (tag == 'input') {
    if (/^(button|submit|reset)$/.test(type)) return el.value || attr(el, 'value') || (type == 'submit' ? 'Submit' : type == 'reset' ? 'Reset' : '');
    if (type == 'image') return attr(el, 'alt') || attr(el, 'value') || attr(el, 'title') || 'Submit';
    return '';
  }
  if (/^(img|area)$/.test(tag)) return attr(el, 'alt') || '';
  if (/^(optgroup|option)$/.test(tag)) return attr(el, 'label') || '';
  const part = { fieldset: 'legend', figure: 'figcaption', table: 'caption' }[tag] || (el instanceof SVGElement && 'title');
  if (part) {
    found = kidsOf(el).find((kid) => kid.localName == part);
    if (found) return part == 'title' ? textOf(found) : compute(found, walk, LABEL, 1);
    return attr(el, 'xlink:title') || '';
  }
  return tag == 'math' ? attr(el, 'alttext') || '' : '';
};

/** The strings of a `content` value; after a slash stands its alternative text. */
const pseudo = (el, which) => {
  const style = getComputedStyle(el, '::' + which), content = style.content;
  if (!content || content == 'none' || content == 'normal') return '';
  let words = '';
  content.replace(/"((?:[^"\\]|\\.)*)"|\//g, (all, string) => (words = string == null ? '' : words + string.replace(/\\(.)/g, '$1')));
  return style.display == 'inline' ? words : ` ${words} `;
};

const OPAQUE = /^(input|select|textarea|img|iframe|video|audio|canvas|object|script|style|noscript|template|meter|progress|desc)$/;

/** @type {(el: Element, walk: Walk, how: number, depth: number) => string} */
const compute = (el, walk, how, depth) => {
  if (depth > 99 || (how == CHILD && walk._seen.has(el))) return el == walk._root ? ' ' : '';
  walk._seen.add(el);
  const tag = tagOf(el), style = styleOf(el);
  // 2A
  if (how == CHILD && !walk._hidden && isGone(el, style)) return '';
  const visible = walk._hidden || style.visibility == 'visible';
  let said = '';
  const role = roleOf(el);
  if (visible || how != CHILD) {
    if (walk._seenOnly && how == CHILD && (style.opacity == '0' || isUnseen(el, style, boxOf(el)))) {
      turn._removed++;
      return '';
    }
    // 2B
    if (!walk._referenced) said = labelledBy(el, 'aria-labelledby', walk);
    if (said) return said;
    // 2C
    if (how && el != walk._root) {
      said = embeddedValue(el, role);
      if (said || (said == '' && how == CHILD)) return said;
      said = '';
    }
    // 2D
    if (tag != 'slot') said = attr(el, 'aria-label') || '';
    if (fold(said)) return said;
    // 2E
    if (!/^(none|presentation)$/.test(role)) said = nativeName(el, tag, walk, how);
    if (fold(said)) return said;
  }
  // 2F, 2G, 2H
  const flags = ROLE_FLAGS[role];
  if (!OPAQUE.test(tag) && (how ? how != CHILD || !(flags & APART) : walk._content || (flags & FROM_CONTENT && (!walk._lean || flags & INTERACTIVE || role == 'heading')))) {
    said = visible ? pseudo(el, 'before') : '';
    let ink = visible;
    if (ink && walk._seenOnly && isInkless(el, style, boxOf(el))) ink = false;
    for (const kid of kidsOf(el).concat(idrefs(el, 'aria-owns'))) {
      if (said.length > 2000) break;
      if (kindOf(kid) == 3) {
        if (ink) said += kid.data.slice(0, 2000);
        else if (visible && fold(kid.data.slice(0, 99))) turn._removed++;
      } else if (kindOf(kid) == 1) {
        const kidTag = tagOf(kid);
        if (kidTag == 'br') said += ' ';
        else if (kidTag != 'title') {
          const words = compute(kid, walk, CHILD, depth + 1);
          if (words) said += /^(inline|contents)$/.test(styleOf(kid).display) ? words : ` ${words} `;
        }
      }
    }
    if (visible) said += pseudo(el, 'after');
    if (fold(said)) return said;
  }
  // 2I
  return visible && !/^(none|presentation)$/.test(role) ? attr(el, 'title') || (how != CHILD && (attr(el, 'placeholder') || attr(el, 'aria-placeholder'))) || '' : '';
};
