/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 for the native parts. */
import { aria, assign, attr, boxOf, findAll, fold, is, kidsOf, kindOf, labelsOf, tagOf, textOf } from './dom.js';
import { APART, FROM_CONTENT, INTERACTIVE, ROLE_FLAGS } from './role-table.js';
import { SILENT, roleOf } from './roles.js';
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
 * @property {any} [_visible] leave out what a person cannot see
 * @property {any} [_lean] name from content only for what is interactive, and headings
 * @property {any} [_content] name from content whatever the role
 */

/** @type {(el: Element, name: string) => Element[]} */
const idrefs = (el, name) => aria(el, name).split(/\s+/).map((id) => id && el.getRootNode().getElementById(id)).filter(Boolean);

const from = (els, walk, how) => fold(els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }), how, 1)).join(' '));
const referenced = (el, name, root) => from(idrefs(el, name), { _root: root, _seen: new Set(), _referenced: 1 }, REFERENCE);

/** What the author wrote on the element itself. @type {(el: Element, noTitle?: any) => string} */
export const authorName = (el, noTitle) => referenced(el, 'labelledby', el) || fold(aria(el, 'label')) || fold(noTitle ? '' : attr(el, 'title'));

/** @type {(el: Element, options?: Partial<Walk>) => string} */
export const nameOf = (el, options) => fold(compute(el, assign({ _root: el, _seen: new Set() }, options), ITSELF, 0));

/** @type {(el: Element, name: string) => string} */
export const descriptionOf = (el, name) => {
  const said = referenced(el, 'describedby', el) || fold(aria(el, 'description') || attr(el, 'title'));
  return said == name ? '' : said;
};

const CHOSEN = '[aria-selected=true]';

/** 2C: a control inside somebody's label counts with its value; nothing for what is no such control. */
const embeddedValue = (el, role) => {
  const native = is(tagOf(el), 'input textarea'), typed = native && el.type != 'password' ? el.value : '', lists = [el, ...idrefs(el, 'owns')];
  if (is(role, 'textbox searchbox')) return native ? typed : textOf(el);
  if (is(role, 'combobox listbox')) return fold((el.selectedOptions ? [...el.selectedOptions] : [].concat(...lists.map((list) => findAll(list, CHOSEN)))).map(textOf).join(' ')) || typed || (role == 'combobox' ? textOf(el) : '');
  if (is(role, 'slider spinbutton scrollbar progressbar meter')) return aria(el, 'valuetext') || aria(el, 'valuenow') || el.value || '';
};

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, walk, how) => {
  const part = { fieldset: 'legend', figure: 'figcaption', table: 'caption' }[tag] || (el instanceof SVGElement && 'title'), kind = el.type;
  const usual = tag == 'input' && { submit: 'Submit', reset: 'Reset', button: '', image: 'Submit' }[kind], found = part && kidsOf(el).find((kid) => kid.localName == part);
  return (
    (how != CHILD && from(labelsOf(el), walk, LABEL)) ||
    (usual != null && usual !== false
      ? (kind == 'image' ? attr(el, 'alt') || attr(el, 'title') : el.value) || usual
      : found
        ? part == 'title' ? textOf(found) : compute(found, walk, LABEL, 1)
        : attr(el, { img: 'alt', area: 'alt', optgroup: 'label', option: 'label', math: 'alttext' }[tag]))
  );
};

/** The strings of a `content` value; behind a slash stands its alternative text. */
const pseudo = (el, which) => {
  const { content, display } = getComputedStyle(el, which);
  let words = '';
  content.replace(/"((?:[^"\\]|\\.)*)"|\//g, (_, string) => (words = string == null ? '' : words + string.replace(/\\(.)/g, '$1')));
  return display == 'inline' ? words : ` ${words} `;
};

/** @type {(el: Element, walk: Walk, how: number, depth: number) => string} */
const compute = (el, walk, how, depth) => {
  const tag = tagOf(el), nested = how == CHILD, role = roleOf(el), flags = ROLE_FLAGS[role], silent = is(role, SILENT), { _root, _seen, _visible } = walk;
  if (depth > 99 || (nested && _seen.has(el))) return el == _root ? ' ' : '';
  _seen.add(el);
  // 2A
  if (nested && !walk._hidden && isGone(el)) return '';
  const visible = walk._hidden || isVisible(el);
  let said;
  if (visible || !nested) {
    if (_visible && nested && isUnseen(el, boxOf(el))) return turn._removed++, '';
    // 2B
    if (!walk._referenced && (said = referenced(el, 'labelledby', _root))) return said;
    // 2C
    said = how && el != _root && embeddedValue(el, role);
    if (said || (nested && said == '' && said !== false)) return said;
    // 2D, 2E
    said = fold((tag != 'slot' && aria(el, 'label')) || '') || fold(silent ? '' : nativeName(el, tag, walk, how));
    if (said) return said;
  }
  // 2F to 2H
  if (
    !is(tag, 'input select textarea img iframe video audio canvas object script style noscript template meter progress desc') &&
    (how ? !nested || !(flags & APART) : walk._content || (flags & FROM_CONTENT && (!walk._lean || flags & INTERACTIVE || role == 'heading')))
  ) {
    const ink = visible && !(_visible && isInkless(el));
    said = visible ? pseudo(el, '::before') : '';
    for (const kid of kidsOf(el).concat(idrefs(el, 'owns'))) {
      const kind = kindOf(kid);
      if (said.length > 2e3) break;
      if (kind == 3) {
        if (ink) said += kid.data.slice(0, 2e3);
        else if (visible && kid.data.trim()) turn._removed++;
      } else if (kind == 1 && tagOf(kid) != 'title') {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, CHILD, depth + 1);
        if (words) said += isInline(kid) ? words : ` ${words} `;
      }
    }
    if (visible) said += pseudo(el, '::after');
    if (fold(said)) return said;
  }
  // 2I
  return !visible || silent ? '' : attr(el, 'title') || (nested ? '' : attr(el, 'placeholder') || aria(el, 'placeholder'));
};
