/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, flatParent, is, matches, rootOf, tagOf } from './dom.js';
import { once } from './call_cache.js';

/** @type {(el: any) => any} */
export const styleOf = once(getComputedStyle);

export const isVisible = once((el) => styleOf(el).visibility == 'visible');
export const isInline = once((el) => is(styleOf(el).display, 'inline contents'));

/** Nothing of it is rendered or exposed, the element and all below. `visibility` is apart: children may undo it. */
export const isGone = once((el) => styleOf(el).display == 'none' || styleOf(el).contentVisibility == 'hidden' || matches(el, 'noscript,[aria-hidden=true],[inert]') || (matches(el, 'details:not([open])>*') > matches(el, 'summary:first-of-type')));

/** Is it, or an ancestor, hidden for everybody? */
export const isHidden = (el) => {
  for (let hidden = !isVisible(el); el; el = flatParent(el)) if (hidden || isGone(el)) return 1;
};

/** @type {(el: any) => DOMRect} */
export const boxIn = once(boxOf);
/** The nearest box that clips or scrolls what is in this one, of those that it is laid out in (CSS 2.1 §10.1), or null. */
const clipperOf = once((el, at = /b|x/.test(styleOf(el).position) ? el.offsetParent : flatParent(el)) => (!at || is(tagOf(at), 'body html') ? 0 : styleOf(at).overflow != 'visible' ? at : clipperOf(at)));

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, a transform
 * that makes it a hundred times smaller, places outside of what an ancestor shows or of what can be scrolled to. Below the fold, or further along in something that
 * scrolls, is not hidden.
 */
export const isUnseen = (el, { left, top, right, bottom, width, height } = boxIn(el)) => {
  const style = styleOf(el);
  if (style.opacity < 0.05 || (!isInline(el) && (((width < 2 || height < 2) && style.overflow != 'visible') || width * height * 99 < el.offsetWidth * el.offsetHeight)) || /t\((([5-9]\d|100)\S*%|([01]px\W+){4})|e\(0|n\((0\D+)+\)|y\(0\)/.test(style.clipPath + style.clip + style.filter)) return 1;
  if (width * height) {
    for (let at = el, levels = 9; levels-- && (at = clipperOf(at)); ) {
      const box = boxIn(at);
      if (/auto|scroll/.test(styleOf(at).overflow)) return bottom + at.scrollTop <= box.top;
      if (bottom <= box.top || top >= box.bottom || right <= box.left || left >= box.right) return 1;
    }
    // How far the page is scrolled from its left end: where it is written from the right, it begins at the other one.
    const root = rootOf(), { scrollWidth } = root, x = scrollX + (styleOf(root).direction == 'rtl' && scrollWidth - root.clientWidth);
    return bottom + scrollY <= 0 || right + x <= 0 || left + x >= scrollWidth;
  }
};

const MOST_LEVELS = 50;
const isClear = (colour) => /(ba|\/).* 0(\.0.*)?\)$/.test(colour);

/** What an element lays under the words in it: a colour, 1 for a picture, 2 for a layer over who knows what, or 0. */
const groundOf = once((el, { backgroundColor, backgroundImage, position } = styleOf(el)) => (backgroundImage != 'none' ? 1 : !isClear(backgroundColor) ? backgroundColor : position != 'static' && 2));

/** Words have a size, and are not indented away. */
const isLegible = ({ fontSize, textIndent }) => parseFloat(fontSize) >= 2 && !/^-\d{3}/.test(textIndent);

/** Can a person see generated content in this style? It has no box to measure. */
export const hasInk = (style) =>
  isLegible(style) && style.opacity >= 0.05 && !isClear(style.webkitTextFillColor);

/**
 * Are the element's own words invisible: no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = once((el) => {
  const style = styleOf(el), ink = style.webkitTextFillColor;
  let levels = MOST_LEVELS, ground;
  // So far up, that a deep page costs no more than its elements.
  for (let at = el; at && !ground; at = flatParent(at)) ground = levels-- ? groundOf(at) : 2;
  // The canvas is white unless the page says otherwise.
  ground = ground || (/dark/.test(styleOf(rootOf()).colorScheme) ? 2 : 'rgb(255, 255, 255)');
  return !isLegible(style) || (isClear(ink) ? ground != 1 : ground == ink);
});
