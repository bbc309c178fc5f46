/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, doc, flatParent, is, matches, tagOf } from './dom.js';
import { turn } from './turn.js';

/** @type {(el: Element) => CSSStyleDeclaration} */
export const styleOf = (el) => {
  const styles = turn._styles;
  if (!styles.has(el)) styles.set(el, getComputedStyle(el));
  return styles.get(el);
};

export const isVisible = (el) => styleOf(el).visibility == 'visible';
export const isInline = (el) => is(styleOf(el).display, 'inline contents');

/** Nothing of it is rendered or exposed, the element and all below. `visibility` is apart: children may undo it. */
export const isGone = (el) => styleOf(el).display == 'none' || styleOf(el).contentVisibility == 'hidden' || matches(el, '[aria-hidden=true],[inert],details:not([open])>:not(summary:first-of-type)');

/** Is it, or an ancestor, hidden for everybody? */
export const isHidden = (el) => {
  if (!isVisible(el)) return 1;
  for (; el; el = flatParent(el)) if (isGone(el)) return 1;
};

/** How far up the ancestors are asked, so that a deep page costs no more than its elements. */
const LEVELS = 50;

/** What a box is laid out in (CSS 2.1 §10.1), or null. @type {(el: Element) => Element | null} */
const containerOf = (el) => {
  const { position } = styleOf(el);
  return position == 'fixed' ? null : position == 'absolute' ? el.offsetParent : flatParent(el);
};

/** The nearest box that clips or scrolls what is in this one: itself, or one that it is laid out in; null where there is none. */
const clipperOf = (el) => {
  const { _clippers } = turn;
  let found;
  for (let at = el, levels = LEVELS; found === undefined; at = found === undefined && containerOf(at))
    found = !at || !levels-- || is(tagOf(at), 'body html') ? null : _clippers.has(at) ? _clippers.get(at) : styleOf(at).overflow == 'visible' ? undefined : at;
  _clippers.set(el, found);
  return found;
};

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, places
 * outside of what an ancestor shows or of what can be scrolled to. Below the fold, or further along in something that
 * scrolls, is not hidden.
 */
export const isUnseen = (el, { left, top, right, bottom, width, height }) => {
  const style = styleOf(el), root = doc.documentElement, rtl = () => styleOf(root).direction == 'rtl';
  if (style.opacity == 0 || ((width < 2 || height < 2) && style.overflow != 'visible' && !isInline(el)) || /inset\(([5-9]\d|100)[.\d]*%|circle\(0/.test(style.clipPath) || (/abs|fix/.test(style.position) && /rect\(([01]px[, )]+){4}/.test(style.clip))) return 1;
  if (!width || !height) return;
  for (let at = containerOf(el), levels = 9; levels-- && at && (at = clipperOf(at)); at = containerOf(at)) {
    const box = boxOf(at);
    if (/auto|scroll/.test(styleOf(at).overflow)) return bottom + at.scrollTop <= box.top || (right + at.scrollLeft <= box.left && !rtl());
    if (bottom <= box.top || top >= box.bottom || right <= box.left || left >= box.right) return 1;
  }
  return bottom + scrollY <= 0 || (right + scrollX <= 0 && !rtl()) || (left + scrollX >= innerWidth && (rtl() || left + scrollX >= root.scrollWidth));
};

/**
 * Are the element's own words invisible: no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = (el) => {
  const { webkitTextFillColor: ink, fontSize, textIndent } = styleOf(el), isClear = (colour) => /^rgba.*, 0\)$/.test(colour);
  if (parseFloat(fontSize) < 2 || parseFloat(textIndent) < -99) return 1;
  for (let levels = LEVELS; el && levels--; el = flatParent(el)) {
    const { backgroundColor, backgroundImage, position } = styleOf(el);
    if (backgroundImage != 'none') return;
    if (isClear(ink)) return 1;
    if (!isClear(backgroundColor)) return backgroundColor == ink;
    if (position != 'static') return;
  }
  return !el && ink == 'rgb(255, 255, 255)' && !/dark/.test(styleOf(doc.documentElement).colorScheme);
};
