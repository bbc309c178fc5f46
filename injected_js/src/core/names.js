/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 for the native parts. */
import { aria, assign, attr, findAll, fold, hasWords, is, isVoid, kidsOf, kindOf, labelsOf, tagOf, textOf } from './dom.js';
import { OMITTED_FROM_NAMES, NAME_FROM_CONTENT, INTERACTIVE, ROLE_TRAITS, SAID_BY_NAME } from './role_table.js';
import { isSilent, roleOf } from './roles.js';
import { valueOf } from './states.js';
import { isGone, isHidden, isInkless, isInline, isUnseen, isVisible } from './visibility.js';
import { counts } from './call_cache.js';

/**
 * @typedef {object} Walk
 * @property {Element} _root whose name it is
 * @property {Set<Element>} _seen
 * @property {any} [_referenced] inside aria-labelledby, which is followed once
 * @property {any} [_hidden] the referenced element is hidden, so all below counts (2A)
 * @property {any} [_known] as snapshots name it: from content only what is interactive or a heading
 * @property {any} [_sight] and of what is not interactive, only what a person can see
 */

/** @type {(el: Element, name: string) => Element[]} */
const idrefs = (el, name) => aria(el, name).split(/\s+/).map((id) => /** @type {any} */ (el.getRootNode()).getElementById(id)).filter((it) => it);

const from = (els, walk) => fold(els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }), 2)).join(' '));
const referenced = (el, name, _root = el) => aria(el, name) && from(idrefs(el, name), { _root, _seen: new Set(), _referenced: 1 });

/** What the author wrote on the element itself. @type {(el: Element, noTitle?: any) => string} */
export const authorName = (el, noTitle) => referenced(el, 'labelledby') || fold(aria(el, 'label') || (noTitle ? '' : attr(el, 'title')));

/** @type {(el: Element, _known?: any) => string} */
export const nameOf = (el, _known) => fold(compute(el, { _root: el, _seen: new Set(), _known, _sight: _known && !(ROLE_TRAITS[roleOf(el)] & INTERACTIVE), _hidden: _known && !isVisible(el) }, 0));

/** @type {(el: Element, name: string) => string} */
export const descriptionOf = (el, name = nameOf(el), said = referenced(el, 'describedby') || fold(attr(el, 'title'))) => (said == name ? '' : said);

/**
 * 2C: a control inside somebody's label counts with its value; nothing for what is no such control. The first kind is
 * textbox, searchbox, combobox, listbox; the second slider, spinbutton, progressbar, meter.
 */
const embeddedValue = (el, role) => {
  if (/[tho]box/.test(role))
    return findAll(el, '[aria-selected=true]').map(textOf).join(' ') || valueOf(el) || '';
  if (/ider|spin|ssbar|meter/.test(role)) return aria(el, 'valuetext') || aria(el, 'valuenow') || el.value || '';
};

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, kids, walk, how, { type } = el, found = kids.find((kid) => is(kid.localName, 'legend figcaption caption title'))) =>
  (how != 1 && from(labelsOf(el), walk)) ||
  (found ? (tag == 'svg' ? textOf(found) : compute(found, walk, 2))
  : tag == 'input' && /^(su|re|b|i)/.test(type) ? (type == 'image' ? attr(el, 'alt') || attr(el, 'title') : el.value) || (type == 'reset' ? 'Reset' : type == 'button' ? '' : 'Submit')
  : attr(el, /^opt/.test(tag) ? 'label' : tag == 'math' ? 'alttext' : 'alt'));

/** The string of a `content` value; behind a slash stands its alternative text. */
const pseudo = (el, which) => (/(.* \/ )?"(.*)"/.exec(getComputedStyle(el, which).content) || '')[2] || '';

/** `how` it was reached: 0 itself, 1 as a child, 2 by reference or as a label. @type {(el: Element, walk: Walk, how: number) => string} */
const compute = (el, walk, how) => {
  const tag = tagOf(el), kids = kidsOf(el), nested = how == 1, role = roleOf(el), flags = ROLE_TRAITS[role], { _root, _seen, _hidden } = walk;
  // So many elements, that nothing overflows: a name is not longer.
  if (_seen.size > 999 || (nested && _seen.has(el))) return el == _root ? ' ' : '';
  _seen.add(el);
  // 2A
  if (nested && !_hidden && isGone(el)) return '';
  const visible = _hidden || isVisible(el), sight = walk._sight && visible;
  let said = '';
  if (visible || !nested) {
    if (sight && nested && isUnseen(el)) return '';
    // 2B to 2E
    if (!walk._referenced && (said = referenced(el, 'labelledby', _root))) return said;
    said = how && el != _root && embeddedValue(el, role);
    if (said || (nested && said === '')) return said;
    said = fold(aria(el, 'label')) || (isSilent(role) ? '' : fold(nativeName(el, tag, kids, walk, how)));
    if (said) return said;
  }
  // 2F to 2H
  if (!isVoid(tag) && tag != 'select' && (how ? !nested || !(flags & OMITTED_FROM_NAMES) : flags & (walk._known ? SAID_BY_NAME : NAME_FROM_CONTENT))) {
    const ink = visible && !(sight && isInkless(el)), around = (which) => visible && (said += pseudo(el, which));
    around('::before');
    for (const kid of kids) {
      if (kindOf(kid) == 3) {
        if (ink) said = (said + kid.data).slice(0, 2e3);
        else if (visible && hasWords(kid.data)) counts._hiddenTexts++;
      } else if (kindOf(kid) == 1) {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, 1);
        if (words) said += isInline(kid) ? words : ` ${words} `;
      }
    }
    around('::after');
    if (fold(said)) return said;
  }
  // 2I
  return !visible || isSilent(role) ? '' : attr(el, 'title') || (nested ? '' : attr(el, 'placeholder') || aria(el, 'placeholder'));
};
