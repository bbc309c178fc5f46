/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 for the native parts. */
import { aria, assign, attr, boxOf, findAll, fold, is, kidsOf, kindOf, labelsOf, tagOf, textOf } from './dom.js';
import { APART, FROM_CONTENT, INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { roleOf } from './roles.js';
import { isGone, isHidden, isInkless, isUnseen, isVisible, styleOf } from './style.js';
import { turn } from './turn.js';

/** How a node was reached. */
const ITSELF = 0, CHILD = 1, REFERENCE = 2, LABEL = 3;

/**
 * @typedef {object} Walk
 * @property {Element} _root whose name it is
 * @property {Set<Element>} _seen
 * @property {any} [_referenced] inside aria-labelledby, which is followed once
 * @property {any} [_hidden] the referenced element is hidden, so all below counts (2A)
 * @property {any} [_visible] leave out what a person cannot see
 * @property {any} [_lean] name from content only for what is interactive, and headings
 * @property {any} [_content] name from content whatever the role
 */

/** @type {(el: Element, name: string) => Element[]} */
const idrefs = (el, name) => aria(el, name) ? aria(el, name).split(/\s+/).map((id) => id && el.getRootNode().getElementById(id)).filter(Boolean) : [];

const from = (els, walk, more, how) => els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }, more), how, 1)).join(' ');
const referenced = (el, name, root) => fold(from(idrefs(el, name), 0, { _root: root, _seen: new Set(), _referenced: 1 }, REFERENCE));

/** What the author wrote on the element itself. @type {(el: Element, noTitle?: any) => string} */
export const authorName = (el, noTitle) => referenced(el, 'labelledby', el) || fold(aria(el, 'label')) || fold(noTitle ? '' : attr(el, 'title'));

/** @type {(el: Element, options?: Partial<Walk>) => string} */
export const nameOf = (el, options) => fold(compute(el, assign({ _root: el, _seen: new Set() }, options), ITSELF, 0));

/** @type {(el: Element, name: string) => string} */
export const descriptionOf = (el, name) => {
  const title = fold(attr(el, 'title'));
  return referenced(el, 'describedby', el) || fold(aria(el, 'description')) || (title == name ? '' : title);
};

const texts = (els) => els.map(textOf).join(' ');

/** 2C: a control inside somebody's label counts with its value; nothing for what is no such control. */
const embeddedValue = (el, role) => {
  const typed = is(tagOf(el), 'input textarea') && el.type != 'password' ? el.value : '';
  if (is(role, 'textbox searchbox')) return typed || textOf(el);
  if (is(role, 'combobox listbox'))
    return texts(tagOf(el) == 'select' ? [...el.selectedOptions] : findAll(el, '[aria-selected=true]')) || texts(idrefs(el, 'owns').map((list) => findAll(list, '[aria-selected=true]')).reduce((a, b) => a.concat(b), [])) || typed || (role == 'combobox' ? textOf(el) : '');
  if (is(role, 'slider spinbutton scrollbar progressbar meter')) return aria(el, 'valuetext') || aria(el, 'valuenow') || el.value || '';
};

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, walk, how) => {
  const labels = how != CHILD && fold(from(labelsOf(el), walk, 0, LABEL));
  if (labels) return labels;
  if (tag == 'input') {
    const usual = { submit: 'Submit', reset: 'Reset', button: '', image: 'Submit' }[el.type];
    return usual == null ? '' : el.type == 'image' ? attr(el, 'alt') || attr(el, 'title') || usual : el.value || usual;
  }
  const native = { img: 'alt', area: 'alt', optgroup: 'label', option: 'label', math: 'alttext' }[tag], part = { fieldset: 'legend', figure: 'figcaption', table: 'caption' }[tag] || (el instanceof SVGElement && 'title');
  const found = part && kidsOf(el).find((kid) => kid.localName == part);
  return native ? attr(el, native) : found ? (part == 'title' ? textOf(found) : compute(found, walk, LABEL, 1)) : '';
};

/** The strings of a `content` value; behind a slash stands its alternative text. */
const pseudo = (el, which) => {
  const { content, display } = getComputedStyle(el, which);
  let words = '';
  if (content != 'none') content.replace(/"((?:[^"\\]|\\.)*)"|\//g, (_, string) => (words = string == null ? '' : words + string.replace(/\\(.)/g, '$1')));
  return display == 'inline' ? words : ` ${words} `;
};

/** @type {(el: Element, walk: Walk, how: number, depth: number) => string} */
const compute = (el, walk, how, depth) => {
  const tag = tagOf(el), nested = how == CHILD, role = roleOf(el), flags = ROLE_FLAGS[role], silent = is(role, 'none presentation');
  if (depth > 99 || (nested && walk._seen.has(el))) return el == walk._root ? ' ' : '';
  walk._seen.add(el);
  // 2A
  if (nested && !walk._hidden && isGone(el)) return '';
  const visible = walk._hidden || isVisible(el);
  let said = '';
  if (visible || !nested) {
    if (walk._visible && nested && isUnseen(el, boxOf(el))) return turn._removed++, '';
    // 2B
    if (!walk._referenced) said = referenced(el, 'labelledby', walk._root);
    if (said) return said;
    // 2C
    said = how && el != walk._root && embeddedValue(el, role);
    if (said || (nested && said == '')) return said;
    // 2D
    said = tag != 'slot' && aria(el, 'label');
    // 2E
    if (!said.trim || !fold(said)) said = silent ? '' : nativeName(el, tag, walk, how);
    if (fold(said)) return said;
  }
  // 2F to 2H
  if (
    !is(tag, 'input select textarea img iframe video audio canvas object script style noscript template meter progress desc') &&
    (how ? !nested || !(flags & APART) : walk._content || (flags & FROM_CONTENT && (!walk._lean || flags & INTERACTIVE || role == 'heading')))
  ) {
    const ink = visible && !(walk._visible && isInkless(el, boxOf(el)));
    said = visible ? pseudo(el, '::before') : '';
    for (const kid of kidsOf(el).concat(idrefs(el, 'owns'))) {
      const kind = kindOf(kid);
      if (said.length > 2e3) break;
      if (kind == 3) {
        if (ink) said += kid.data.slice(0, 2e3);
        else if (visible && kid.data.trim()) turn._removed++;
      } else if (kind == 1 && tagOf(kid) != 'title') {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, CHILD, depth + 1);
        if (words) said += is(styleOf(kid).display, 'inline contents') ? words : ` ${words} `;
      }
    }
    if (visible) said += pseudo(el, '::after');
    if (fold(said)) return said;
  }
  // 2I
  return !visible || silent ? '' : attr(el, 'title') || (nested ? '' : attr(el, 'placeholder') || aria(el, 'placeholder'));
};
