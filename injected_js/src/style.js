/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, flatParent, is, matches, max, rootOf, tagOf } from './dom.js';
import { about, turn } from './turn.js';

const HIDING = /t\((([5-9]\d|100)[.\d]*%|([01]px[, )]+){4})|e\(0/;

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

/** The element's box, asked once a turn: nothing moves while a snapshot is taken. @type {(el: Element) => DOMRect} */
export const boxIn = (el) => {
  const facts = about(el);
  return (facts._box = facts._box || boxOf(el));
};

/** The nearest box that clips or scrolls what is in this one, of those that it is laid out in (CSS 2.1 §10.1), or null. */
const clipperOf = (el) => {
  const facts = about(el);
  if (facts._clipper === undefined) {
    const { position } = styleOf(el), at = position == 'fixed' ? null : position == 'absolute' ? el.offsetParent : flatParent(el);
    facts._clipper = !at || is(tagOf(at), 'body html') ? null : styleOf(at).overflow != 'visible' ? at : clipperOf(at);
  }
  return facts._clipper;
};

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, places
 * outside of what an ancestor shows or of what can be scrolled to. Below the fold, or further along in something that
 * scrolls, is not hidden.
 */
export const isUnseen = (el, { left, top, right, bottom, width, height } = boxIn(el)) => {
  const style = styleOf(el), { opacity, clipPath } = style;
  // Each property that is asked for costs as much as a dozen calls: the rare ones only where they can matter.
  if (opacity == 0 || ((width < 2 || height < 2) && style.overflow != 'visible' && !isInline(el)) || HIDING.test(clipPath) || (style.position != 'static' && HIDING.test(style.clip))) return 1;
  if (width && height) {
    const [x, y, wide] = (turn._sides = turn._sides || [scrollX, scrollY, max(innerWidth, rootOf().scrollWidth)]);
    for (let at = el, levels = 9; levels-- && (at = clipperOf(at)); ) {
      const box = boxIn(at);
      if (/auto|scroll/.test(styleOf(at).overflow)) return bottom + at.scrollTop <= box.top;
      if (bottom <= box.top || top >= box.bottom || right <= box.left || left >= box.right) return 1;
    }
    return bottom + y <= 0 || right + x <= 0 || left + x >= wide;
  }
};

const isClear = (colour) => /a.*, 0\)$/.test(colour);

/** The colour that an element's words stand on; 1 for a picture and 2 for a layer over who knows what. */
const groundOf = (el, levels) => {
  // The canvas, white unless the page says otherwise.
  if (!el) return /dark/.test(styleOf(rootOf()).colorScheme) ? 2 : 'rgb(255, 255, 255)';
  const facts = about(el);
  if (!facts._ground) {
    const style = styleOf(el), { backgroundColor } = style;
    facts._ground =
      style.backgroundImage != 'none' ? 1
      : !isClear(backgroundColor) ? backgroundColor
      : !levels || style.position != 'static' ? 2
      : groundOf(flatParent(el), levels - 1);
  }
  return facts._ground;
};

/**
 * Are the element's own words invisible: no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = (el) => {
  const { webkitTextFillColor: ink, fontSize, textIndent } = styleOf(el), ground = groundOf(el, 50);
  return /^[01](\.|p)/.test(fontSize) || /^-\d{3}/.test(textIndent) || (isClear(ink) ? ground != 1 : ground == ink);
};
