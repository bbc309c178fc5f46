/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 and SVG-AAM §5 for the native parts. */
import { aria, assign, attr, findAll, fold, hasWords, idrefs, is, isSvg, isVoid, kidsOf, kindOf, labelsOf, tagOf, textOf } from './dom.js';
import { INTERACTIVE, NAME_FROM_CONTENT, OMITTED_FROM_NAMES, RANGE_VALUE, ROLE_TRAITS, SAID_BY_NAME, TEXT_VALUE } from './role_table.js';
import { roleOf } from './roles.js';
import { valueOf } from './states.js';
import { hasInk, isGone, isHidden, isInkless, isInline, isUnseen, isVisible } from './visibility.js';
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

/** How an element of the walk was reached. */
const ITSELF = 0, AS_CHILD = 1, BY_REFERENCE = 2;
/** Nothing overflows with so many elements, and a name is not longer than so many characters. */
const MOST_ELEMENTS = 999, MOST_CHARACTERS = 2e3;

const from = (els, walk) => fold(els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }), BY_REFERENCE)).join(' '));
const referenced = (el, name, _root = el) => attr(el, name) && from(idrefs(el, name), { _root, _seen: new Set(), _referenced: 1 });

/** What the author wrote on the element itself. @type {(el: any, noTitle?: any) => any} */
export const authorName = (el, noTitle) => referenced(el, 'aria-labelledby') || fold(aria(el, 'label')) || (!noTitle && fold(attr(el, 'title')));

/** @type {(el: any, _known?: any) => string} */
export const nameOf = (el, _known) =>
  fold(compute(el, { _root: el, _seen: new Set(), _known, _sight: _known && !(ROLE_TRAITS[roleOf(el)] & INTERACTIVE), _hidden: _known && !isVisible(el) }, ITSELF));

/** @type {(el: any, name?: string) => string} */
export const descriptionOf = (el, name = nameOf(el)) => {
  const said = referenced(el, 'aria-describedby') || fold(attr(el, 'title'));
  return said == name ? '' : said;
};

/** 2C: a control inside another one's label counts with its value; undefined for what is no such control. */
const embeddedValue = (el, traits) => {
  if (traits & TEXT_VALUE) return findAll(el, '[aria-selected=true]').map(textOf).join(' ') || valueOf(el) || '';
  if (traits & RANGE_VALUE) return aria(el, 'valuetext') || aria(el, 'valuenow') || el.value || '';
};

/** Attributes that name an element, by its tag. */
const NAMING_ATTRIBUTES = { img: 'alt', area: 'alt', optgroup: 'label', option: 'label', math: 'alttext' };
const BUTTON_LABELS = { reset: 'Reset', submit: 'Submit', image: 'Submit', button: '' };

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, kids, walk, how) => {
  const { type } = el, child = kids.find((kid) => is(kid.localName, 'legend figcaption caption title'));
  if (child) return isSvg(el) ? textOf(child) : compute(child, walk, BY_REFERENCE);
  return (
    (how != AS_CHILD && from(labelsOf(el), walk)) ||
    (tag == 'input' && type in BUTTON_LABELS ? (type == 'image' ? attr(el, 'alt') || attr(el, 'title') : el.value) || BUTTON_LABELS[type]
    : attr(el, NAMING_ATTRIBUTES[tag]))
  );
};

/** The parts of a `content` value: strings, addresses, and the slash before the alternative text. */
const CONTENT_PARTS = /(url\()?"(\\.|[^"\\])*"|\//g;

/**
 * The text of generated content: strings, or behind a slash the alternative text (CSS Content 3 §1.1, accname 2F.ii).
 * Images have no text of their own. Block boxes stand apart from what is around them.
 */
const generatedText = (el, which, sight) => {
  const style = getComputedStyle(el, which), { content, display } = style;
  // Most elements have none.
  if (!/"/.test(content) || display == 'none' || style.visibility != 'visible' || (sight && !hasInk(style))) return '';
  let text = '';
  for (const part of content.match(CONTENT_PARTS)) text = part == '/' ? '' : part[0] == 'u' ? text : text + part.slice(1, -1).replace(/\\(.)/g, '$1');
  return is(display, 'inline contents') ? text : ` ${text} `;
};

/** Words that are not the element's own text stand apart from what is around it. */
const apart = (words) => ` ${words} `;

/** @type {(el: any, walk: Walk, how: number) => string} */
const compute = (el, walk, how) => {
  const tag = tagOf(el), nested = how == AS_CHILD, role = roleOf(el), traits = ROLE_TRAITS[role], { _root, _seen, _hidden } = walk;
  if (_seen.size > MOST_ELEMENTS || (nested && _seen.has(el))) return el == _root ? ' ' : '';
  _seen.add(el);
  // 2A
  if (nested && !_hidden && isGone(el)) return '';
  const visible = _hidden || isVisible(el), sight = walk._sight && visible, kids = kidsOf(el);
  let said = '';
  if (visible || !nested) {
    if (sight && nested && isUnseen(el)) return '';
    // 2B
    if (!walk._referenced && (said = referenced(el, 'aria-labelledby', _root))) return apart(said);
    // 2C
    said = how && el != _root && embeddedValue(el, traits);
    if (said || (nested && said === '')) return apart(said);
    // 2D, 2E: a slot has no role that could be named
    said = tag != 'slot' && (fold(aria(el, 'label')) || (role != 'none' && fold(nativeName(el, tag, kids, walk, how))));
    if (said) return apart(said);
  }
  said = '';
  // 2F to 2H
  if (!isVoid(tag) && !is(tag, 'input select') && (how ? !nested || !(traits & OMITTED_FROM_NAMES) : traits & (walk._known ? SAID_BY_NAME : NAME_FROM_CONTENT))) {
    const ink = visible && !(sight && isInkless(el)), around = (which) => visible && (said += generatedText(el, which, sight));
    around('::before');
    for (const kid of kids.concat(idrefs(el, 'aria-owns'))) {
      if (kindOf(kid) == 3) {
        if (ink) said = (said + kid.data).slice(0, MOST_CHARACTERS);
        else if (visible && hasWords(kid.data)) counts._hiddenTexts++;
      } else if (kindOf(kid) == 1) {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, AS_CHILD);
        if (words) said += isInline(kid) ? words : ` ${words} `;
      }
    }
    around('::after');
    if (hasWords(said)) return said;
  }
  // 2I
  const tooltip = visible && role != 'none' && attr(el, 'title');
  return tooltip ? apart(tooltip) : (visible && !nested && (attr(el, 'placeholder') || aria(el, 'placeholder'))) || said;
};
