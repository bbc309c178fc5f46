/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { flatParent, is, matches, max } from './dom.js';
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

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, positions
 * outside of what can be scrolled to. Below the fold, or further along in something that scrolls, is not hidden.
 */
export const isUnseen = (el, { left, right, bottom, width, height }) => {
  const { opacity, overflow, clip, clipPath, position } = styleOf(el), root = document.documentElement, rtl = styleOf(root).direction == 'rtl';
  if (opacity == 0 || ((width < 2 || height < 2) && overflow != 'visible' && !isInline(el)) || /inset\(([5-9]\d|100)[.\d]*%|circle\(0/.test(clipPath) || (/rect\(([01]px[, )]+){4}/.test(clip) && /abs|fix/.test(position))) return 1;
  if (width && height && (bottom + scrollY <= 0 || (rtl ? left >= innerWidth : right + scrollX <= 0 || left + scrollX >= max(root.scrollWidth, innerWidth)))) {
    while ((el = flatParent(el))) if ((el.scrollWidth > el.clientWidth || el.scrollTop) && /auto|scroll/.test(styleOf(el).overflow)) return;
    return 1;
  }
};

const isClear = (colour) => /^rgba.*, 0\)$/.test(colour);

/**
 * Are the element's own words invisible: no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = (el) => {
  const { color, fontSize, textIndent, webkitTextFillColor } = styleOf(el);
  if (parseFloat(fontSize) < 2 || parseFloat(textIndent) < -99) return 1;
  for (let levels = 50; el && levels--; el = flatParent(el)) {
    const { backgroundColor, backgroundImage, position } = styleOf(el);
    if (backgroundImage != 'none') return;
    if (isClear(color)) return webkitTextFillColor == color;
    if (!isClear(backgroundColor)) return backgroundColor == color;
    if (position != 'static') return;
  }
  return !el && color == 'rgb(255, 255, 255)';
};
