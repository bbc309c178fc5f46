/** Accessible names and descriptions: accname-1.2 §4.3, step letters as there; HTML-AAM §4 and SVG-AAM §5 for the native parts. */
import { aria, assign, attr, byId, findAll, flatParent, fold, hasWords, idrefs, is, isSvg, isVoid, kidsOf, kindOf, labelsOf, matches, own, rootOf, tagOf, textOf } from './dom.js';
import { countersOf } from './counters.js';
import { NAME_FROM_CONTENT, OMITTED_FROM_NAMES, RANGE_VALUE, ROLE_TRAITS, SAID_BY_NAME, TEXT_VALUE } from './role_table.js';
import { isControl, roleOf } from './roles.js';
import { valueOf, valuesOf } from './states.js';
import { generatedStyleOf, hasInk, isClosed, isGone, isHidden, isInkless, isInline, isUnseen, isVisible, styleOf } from './visibility.js';
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
/** Nothing overflows with so many elements. */
const MOST_ELEMENTS = 999;

const from = (els, walk) => fold(els.map((el) => compute(el, assign({}, walk, { _hidden: isHidden(el) }), BY_REFERENCE)).join(' '));
const referenced = (el, name, _root = el) => aria(el, name) && from(idrefs(el, name), { _root, _seen: new Set(), _referenced: 1 });

/** What the author wrote on the element itself. @type {(el: any, noTitle?: any) => any} */
export const authorName = (el, noTitle) => referenced(el, 'labelledby') || fold(aria(el, 'label')) || (!noTitle && fold(attr(el, 'title')));

/** @type {(el: any, _known?: any) => string} */
export const nameOf = (el, _known) =>
  fold(compute(el, { _root: el, _seen: new Set(), _known, _sight: _known && !isControl(el), _hidden: _known && !isVisible(el) }, ITSELF));

/** SVG-AAM §5.3: `desc`, else what else describes. What the name says already is no description. */
const svgDescription = (el, name) => findAll(el, ':scope>desc').concat(findAll(el, ':scope>title')).map(textOf).concat(attr(el, tagOf(el) == 'a' && 'xlink:title')).find((it) => hasWords(it) && fold(it) != name);

/** What describes an element where it does not name it (HTML-AAM §4.2). */
const nativeDescription = (el, name) =>
  isSvg(el) ? svgDescription(el, name)
  : tagOf(el) == 'input' ? el.type in BUTTON_LABELS && el.value != name && el.value
  : tagOf(el) == 'summary' && authorName(el, 1) && textOf(el);

/** Accname-1.2 §4.2, HTML-AAM §4.2, SVG-AAM §5.3. @type {(el: any, name?: string) => string} */
export const descriptionOf = (el, name = nameOf(el)) => {
  const said = referenced(el, 'describedby') || fold(aria(el, 'description')), native = said || fold(nativeDescription(el, name) || attr(el, 'title'));
  return said || (native == name ? '' : native);
};

/** Words that are not the element's own text stand apart from what is around it. */
const apart = (words) => ` ${words} `;

/** 2C: a control inside another one's label counts with its value; undefined for what is no such control. */
const embeddedValue = (el, traits) => {
  if (traits & TEXT_VALUE)
    return fold((valuesOf(el) || idrefs(el, 'owns').concat(el).map((it) => findAll(it, '[aria-selected=true]').map(textOf).join(' '))).join(' ')) || valueOf(el) || '';
  if (traits & RANGE_VALUE) return aria(el, 'valuetext') || aria(el, 'valuenow') || own(el, 'value') || '';
};

/** Attributes that name an element, by its tag. */
const NAMING_ATTRIBUTES = { a: 'xlink:title', img: 'alt', area: 'alt', optgroup: 'label', option: 'label', math: 'alttext', tr: 'title' };
const BUTTON_LABELS = { reset: 'Reset', submit: 'Submit', image: 'Submit', button: '' };

/** What a `use` shows (SVG-AAM §5.1.3), which is hidden where it stands. */
const usedName = (el, walk, shown = byId(el, (attr(el, 'href') || attr(el, 'xlink:href')).slice(1))) => (shown ? compute(shown, assign({}, walk, { _hidden: 1 }), AS_CHILD) : '');

/** 2E: what HTML and SVG give. */
const nativeName = (el, tag, kids, walk, how) => {
  const { type } = el, replaced = /^[^"]+\(/.test(styleOf(el).content) && generatedText(el), child = kids.find((kid) => kindOf(kid) == 1 && is((isSvg(el) ? '' : tag) + tagOf(kid), 'title fieldsetlegend figurefigcaption tablecaption'));
  if (child) return isSvg(el) ? textOf(child) : compute(child, walk, BY_REFERENCE);
  return (
    (hasWords(replaced) && replaced) ||
    (how != AS_CHILD && from(labelsOf(el), walk)) ||
    (tag == 'use' ? usedName(el, walk)
    : tag == 'input' && type in BUTTON_LABELS ? (type == 'image' && (attr(el, 'alt') || attr(el, 'title'))) || el.value || (matches(el, '[value]') ? '' : BUTTON_LABELS[type])
    : attr(el, NAMING_ATTRIBUTES[tag]))
  );
};

/** The parts of a computed `content`: strings, functions, quotes, and the slash before the alternative text. */
const CONTENT_PARTS = /"(\\.|[^"\\])*"|[\w-]+(\(("(\\.|[^"\\])*"|[^)])*)?|\//g;
/** In a computed string: a control character, which is written in hexadecimal digits and a space, or one that is meant as it is. */
const ESCAPE = /\\(?:[\da-f]+( )|(.))/g;

const unquoted = (text) => text.slice(1, -1).replace(ESCAPE, '$1$2');

/** A quotation mark (CSS Content 3 §3.2), of the depth that the quotes around it make. `auto` is taken as English has it. */
const quotationMark = (el, quotes, isClosing) => {
  const marks = (quotes == 'auto' ? '"\u201c" "\u201d" "\u2018" "\u2019"' : quotes).match(CONTENT_PARTS);
  let place = isClosing;
  while ((el = flatParent(el))) if (place + 2 < marks.length && /open/.test(generatedStyleOf(el, '::before').content)) place += 2;
  return marks[1] ? unquoted(marks[place]) : '';
};

/**
 * The text of generated content: strings, or behind a slash the alternative text (CSS Content 3 §1.1, accname 2F.ii).
 * Images have no text of their own. Block boxes and alternative texts stand apart from what is around them.
 */
const generatedText = (el, which = undefined, sight = undefined) => {
  const style = generatedStyleOf(el, which), { content, display } = style;
  // Most elements have none.
  if (/^no/.test(content) || display == 'none' || style.visibility != 'visible' || (sight && !hasInk(style))) return '';
  let text = '', together = /** @type {any} */ (is(display, 'inline contents')), counters = 0;
  for (const part of content.match(CONTENT_PARTS) || [])
    if (part == '/') text = together = '';
    else if (part[0] == '"') text += unquoted(part);
    // What is hidden, or in a shadow root, has none.
    else if (/^cou/.test(part)) text += ((countersOf(rootOf()).get(el) || {})[which] || [])[counters++] || '';
    else if (/^op|^cl/.test(part)) text += quotationMark(el, style.quotes, +(part[0] == 'c'));
  return together ? text : apart(text);
};

/** @type {(el: any, walk: Walk, how: number) => string} */
const compute = (el, walk, how) => {
  const tag = tagOf(el), nested = how == AS_CHILD, role = roleOf(el), traits = ROLE_TRAITS[role], { _root, _seen, _hidden } = walk;
  // 2A
  if (_seen.size > MOST_ELEMENTS || (nested && (_seen.has(el) || (!_hidden && isGone(el))))) return '';
  _seen.add(el);
  const visible = _hidden || isVisible(el), sight = walk._sight && visible, kids = kidsOf(el);
  let said = '';
  if (visible || !nested) {
    if (sight && nested && isUnseen(el)) return '';
    // 2B
    if (!walk._referenced && (said = referenced(el, 'labelledby', _root))) return apart(said);
    // 2C
    said = how && el != _root && embeddedValue(el, traits);
    if (said || (nested && said === '')) return apart(said);
    // 2D, 2E: a slot has no role that could be named
    said = tag != 'slot' && (fold(aria(el, 'label')) || (role != 'none' && fold(nativeName(el, tag, kids, walk, how))));
    if (said) return apart(said);
  }
  said = '';
  // 2F to 2H
  if (!isVoid(tag) && !is(tag, 'input select') && (how ? !nested || walk._referenced || !(traits & OMITTED_FROM_NAMES || (role == 'group' && roleOf(_root) == 'treeitem')) : traits & (walk._known ? SAID_BY_NAME : NAME_FROM_CONTENT))) {
    const owned = idrefs(el, 'owns'), ink = visible && !isClosed(el) && !(sight && isInkless(el)), around = (which) => visible && (said += generatedText(el, which, sight));
    around('::before');
    for (const kid of kids.filter((it) => !owned.includes(it)).concat(owned)) {
      if (kindOf(kid) == 3) {
        if (ink) said += kid.data;
        else if (visible && hasWords(kid.data)) counts._hiddenTexts++;
      } else if (kindOf(kid) == 1) {
        const words = tagOf(kid) == 'br' ? ' ' : compute(kid, walk, AS_CHILD);
        said += owned.includes(kid) ? apart(words) : isInline(kid) || (!_hidden && isGone(kid)) ? words : apart(words);
      }
    }
    around('::after');
    if (hasWords(said)) return said;
  }
  // 2I
  const tooltip = visible && role != 'none' && attr(el, 'title');
  return (
    tooltip ? apart(tooltip)
    : nested ? (tag == 'img' && role != 'none' ? ' ' : said)
    : (visible && (attr(el, 'placeholder') || aria(el, 'placeholder') || (matches(el, '[type=file]') && 'Choose File'))) || said
  );
};
