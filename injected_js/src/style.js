/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, flatParent, is, matches, max, rootOf, tagOf } from './dom.js';
import { about } from './turn.js';

/** @type {(el: Element) => CSSStyleDeclaration} */
export const styleOf = (el) => {
  const facts = about(el);
  return (facts._style = facts._style || getComputedStyle(el));
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

/** The nearest box that clips or scrolls what is in this one, of those that it is laid out in (CSS 2.1 §10.1), or null. */
const clipperOf = (el) => {
  const facts = about(el), { position } = styleOf(el);
  if (facts._clipper === undefined) {
    const at = position == 'fixed' ? null : position == 'absolute' ? el.offsetParent : flatParent(el);
    facts._clipper = !at || is(tagOf(at), 'body html') ? null : styleOf(at).overflow != 'visible' ? at : clipperOf(at);
  }
  return facts._clipper;
};

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, places
 * outside of what an ancestor shows or of what can be scrolled to. Below the fold, or further along in something that
 * scrolls, is not hidden.
 */
export const isUnseen = (el, { left, top, right, bottom, width, height } = boxOf(el)) => {
  const { opacity, overflow, clipPath, clip } = styleOf(el);
  if (opacity == 0 || ((width < 2 || height < 2) && overflow != 'visible' && !isInline(el)) || /t\((([5-9]\d|100)[.\d]*%|([01]px[, )]+){4})|e\(0/.test(clipPath + clip)) return 1;
  if (width && height) {
    for (let at = el, levels = 9; levels-- && (at = clipperOf(at)); ) {
      const box = boxOf(at);
      if (/auto|scroll/.test(styleOf(at).overflow)) return bottom + at.scrollTop <= box.top;
      if (bottom <= box.top || top >= box.bottom || right <= box.left || left >= box.right) return 1;
    }
    return bottom + scrollY <= 0 || right + scrollX <= 0 || left + scrollX >= max(innerWidth, rootOf().scrollWidth);
  }
};

const isClear = (colour) => /a.*, 0\)$/.test(colour);

/**
 * Are the element's own words invisible: no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = (el) => {
  const { webkitTextFillColor: ink, fontSize, textIndent } = styleOf(el);
  if (/^[01](\.|p)/.test(fontSize) || /^-\d{3}/.test(textIndent)) return 1;
  // So far up, that a deep page costs no more than its elements.
  for (let levels = 50; el && levels--; el = flatParent(el)) {
    const { backgroundColor: ground, backgroundImage, position } = styleOf(el);
    if (backgroundImage != 'none') return;
    if (isClear(ink)) return 1;
    if (!isClear(ground)) return ground == ink;
    if (position != 'static') return;
  }
  return !el && ink == 'rgb(255, 255, 255)' && !/dark/.test(styleOf(rootOf()).colorScheme);
};
