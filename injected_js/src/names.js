/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 for the native parts. */
import { aria, assign, attr, boxOf, findAll, fold, is, isSkipped, isVoid, kidsOf, kindOf, labelsOf, tagOf, textOf } from './dom.js';
import { APART, FROM_CONTENT, INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { isSilent, roleOf } from './roles.js';
import { isGone, isHidden, isInkless, isInline, isUnseen, isVisible } from './style.js';
import { turn } from './turn.js';

/** How a node was reached. */
const ITSELF = 0, CHILD = 1, REFERENCE = 2, LABEL = 3;

/**
 * @typedef {object} Walk
 * @property {Element} _root whose name it is
 * @property {Set<Element>} _seen
 * @property {any} [_referenced] inside aria-labelledby, which is followed once
 * @property {any} [_hidden] the referenced element is hidden, so all below counts (2A)
 * @property {any} [_dim] the root is invisible: its words still are its name
 * @property {any} [_known] as snapshots name it: content only for what is interactive, and what a person cannot see only there
 */

/** @type {(el: Element, name: string) => Element[]} */
const idrefs = (el, name) => aria(el, name).split(/\s+/).map((id) => id && el.getRootNode().getElementById(id)).filter((it) => it);

const from = (els, walk, how) => fold(els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }), how, 1)).join(' '));
const referenced = (el, name, _root = el) => from(idrefs(el, name), { _root, _seen: new Set(), _referenced: 1 }, REFERENCE);

/** What the author wrote on the element itself. @type {(el: Element, noTitle?: any) => string} */
export const authorName = (el, noTitle) => referenced(el, 'labelledby') || fold(aria(el, 'label')) || (noTitle ? '' : fold(attr(el, 'title')));

/** @type {(el: Element, _known?: any) => string} */
export const nameOf = (el, _known) => fold(compute(el, { _root: el, _seen: new Set(), _known, _dim: _known && !isVisible(el) }, ITSELF, 0));

/** @type {(el: Element, name: string) => string} */
export const descriptionOf = (el, name) => {
  const said = referenced(el, 'describedby') || fold(aria(el, 'description') || attr(el, 'title'));
  return said == name ? '' : said;
};

/** 2C: a control inside somebody's label counts with its value; nothing for what is no such control. */
const embeddedValue = (el, role) => {
  const native = is(tagOf(el), 'input textarea') && (el.type != 'password' && el.value);
  if (is(role, 'textbox searchbox')) return native === false ? textOf(el) : native;
  if (is(role, 'combobox listbox')) return [...(el.selectedOptions || [].concat(...[el, ...idrefs(el, 'owns')].map((list) => findAll(list, '[aria-selected=true]'))))].map(textOf).join(' ') || native || (role == 'combobox' ? textOf(el) : '');
  if (is(role, 'slider spinbutton scrollbar progressbar meter')) return aria(el, 'valuetext') || aria(el, 'valuenow') || el.value || '';
};

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, walk, how) => {
  const part = { fieldset: 'legend', figure: 'figcaption', table: 'caption', svg: 'title' }[tag], kind = el.type, usual = tag == 'input' ? { submit: 'Submit', reset: 'Reset', button: '', image: 'Submit' }[kind] : part,
    found = part && kidsOf(el).find((kid) => kid.localName == part);
  return (
    (how != CHILD && from(labelsOf(el), walk, LABEL)) ||
    (part ? (found ? (tag == 'svg' ? textOf(found) : compute(found, walk, LABEL, 1)) : '')
    : usual != null ? (kind == 'image' ? attr(el, 'alt') || attr(el, 'title') : el.value) || usual
    : attr(el, { img: 'alt', area: 'alt', math: 'alttext' }[tag] || (/^opt/.test(tag) ? 'label' : tag)))
  );
};

/** The strings of a `content` value; behind a slash stands its alternative text. */
const pseudo = (el, which) => {
  const { content, display } = getComputedStyle(el, '::' + which);
  let words = '';
  content.replace(/"((?:[^"\\]|\\.)*)"|\//g, (_, string) => (words = string == null ? '' : words + string.replace(/\\(.)/g, '$1')));
  return display == 'inline' ? words : ` ${words} `;
};

/** @type {(el: Element, walk: Walk, how: number, depth: number) => string} */
const compute = (el, walk, how, depth) => {
  const tag = tagOf(el), nested = how == CHILD, role = roleOf(el), flags = ROLE_FLAGS[role], { _root, _seen, _hidden, _known, _dim } = walk, rootFlags = ROLE_FLAGS[roleOf(_root)];
  if (depth > 99 || (nested && _seen.has(el))) return el == _root ? ' ' : '';
  _seen.add(el);
  // 2A
  if (nested && !_hidden && isGone(el)) return '';
  const visible = _hidden || _dim || isVisible(el), sight = _known && !(rootFlags & INTERACTIVE) && visible;
  let said;
  if (visible || !nested) {
    if (sight && nested && isUnseen(el, boxOf(el))) return turn._removed++, '';
    // 2B to 2E
    if (!walk._referenced && (said = referenced(el, 'labelledby', _root))) return said;
    said = how && el != _root && embeddedValue(el, role);
    if (said || (nested && said === '')) return said;
    said = (tag != 'slot' && fold(aria(el, 'label'))) || (isSilent(role) ? '' : fold(nativeName(el, tag, walk, how)));
    if (said) return said;
  }
  // 2F to 2H
  if (
    !(isVoid(tag) || isSkipped(tag) || tag == 'select') &&
    (how ? !nested || !(flags & APART) : _known ? flags & INTERACTIVE ? flags & FROM_CONTENT : role == 'heading' || _known == 2 : flags & FROM_CONTENT)
  ) {
    const ink = visible && !(sight && isInkless(el));
    said = visible ? pseudo(el, 'before') : '';
    for (const kid of [...kidsOf(el), ...idrefs(el, 'owns')]) {
      const kind = kindOf(kid);
      if (said.length > 2e3) break;
      if (kind == 3) {
        if (ink) said += kid.data.slice(0, 2e3);
        else if (visible && kid.data.trim()) turn._removed++;
      } else if (kind == 1) {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, CHILD, depth + 1);
        if (words) said += isInline(kid) ? words : ` ${words} `;
      }
    }
    if (visible) said += pseudo(el, 'after');
    if (fold(said)) return said;
  }
  // 2I
  return !visible || isSilent(role) ? '' : attr(el, 'title') || (nested ? '' : attr(el, 'placeholder') || aria(el, 'placeholder'));
};
