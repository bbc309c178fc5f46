/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, clientHeightOf, clientWidthOf, flatParent, is, isField, isSvg, kidsOf, kindOf, matches, own, rootOf, scrollHeightOf, scrollTopOf, tagOf } from './dom.js';
import { once } from './call_cache.js';

/** @type {(el: any) => any} */
/** @type {(el: any, which?: string) => CSSStyleDeclaration} */
export const generatedStyleOf = getComputedStyle;
export const styleOf = once(/** @type {(el: any) => any} */ (generatedStyleOf));

export const isVisible = once((el) => styleOf(el).visibility == 'visible');
export const isInline = once((el) => /^(inline|contents|ruby.*)$/.test(styleOf(el).display));

/** Closed: what is in it is not shown, but for its summary. */
export const isClosed = (el) => matches(el, 'details:not([open])');

/** Nothing of it is rendered, the element and all below. `visibility` is apart: children may undo it. */
export const isAbsent = once((el) => styleOf(el).display == 'none' || styleOf(el).contentVisibility == 'hidden' || matches(el, 'noscript,[inert]') || (matches(el, 'details:not([open])>*') > matches(el, 'summary:first-of-type')));

/** @type {(el: any) => boolean} */
export const isAriaHidden = (el) => matches(el, '[aria-hidden=true]');
/** Nothing of it is rendered or exposed. */
export const isGone = (el) => isAbsent(el) || isAriaHidden(el);

/** Is it, or an ancestor, hidden for everybody? */
export const isHidden = (el) => {
  for (let hidden = !isVisible(el); el; el = flatParent(el)) if (hidden || isGone(el)) return 1;
};

/** @type {(el: any) => DOMRect} */
export const boxIn = once(boxOf);
/** Does it clip or scroll what is in it? Boxes of lines and of rows do not (CSS Overflow 3 §3.1), and what has no box. */
const clips = (el, { overflow, contain, display } = styleOf(el)) => (overflow != 'visible' || /[pc]/.test(contain)) && ((!isInline(el) && !/^table.*[wp]$/.test(display)) || isSvg(el));

/** Of CSS `zoom`, with that of what is around it; engines before Chromium 128 do not say. */
const zoomOf = (el) => own(el, 'currentCSSZoom');

/**
 * The nearest box that clips or scrolls what is in this one, of those that it is laid out in (CSS 2.1 §10.1), if there is
 * one. What is fixed is taken as clipped by nothing, and so is what is absolute where `offsetParent` stops at another zoom.
 */
export const clipperOf = once((el, { position } = styleOf(el), at = position == 'absolute' ? own(el, 'offsetParent') : position != 'fixed' && flatParent(el)) => (!at || (position == 'absolute' && zoomOf(at) != zoomOf(el)) || is(tagOf(at), 'body html') ? 0 : clips(at) ? at : clipperOf(at)));

/**
 * Is it outside of what an ancestor shows, or of what can be scrolled to? Below the fold, or further along in something
 * that scrolls, is not. What is in it can be somewhere else all the same.
 */
export const isOut = once((el) => {
  const { left, top, right, bottom, width, height } = boxIn(el), area = width * height;
  for (let at = clips(el) ? el : clipperOf(el), levels = 9; at && levels--; at = clipperOf(at)) {
    const box = boxIn(at), scrolls = /auto|scroll/.test(styleOf(at).overflow), least = scrolls ? 0.1 : 2;
    if (box.width < least || box.height < least) return 1;
    // Where it is written from the right or upwards, it begins at the other end.
    if (scrolls) return area && bottom + scrollTopOf(at) + scrollHeightOf(at) - clientHeightOf(at) <= box.top;
    if (area && (bottom <= box.top || top >= box.bottom || right <= box.left || left >= box.right)) return 1;
  }
  const { scrollWidth, clientWidth } = rootOf();
  return area && (bottom + scrollY <= 0 || right + scrollX + scrollWidth <= clientWidth || left + scrollX >= scrollWidth);
});

/**
 * Nothing of it and of what is in it can be seen: opacity 0, `clip`, `clip-path`, a transform that makes it a hundred times
 * smaller, or it is out of sight and has no elements that could be elsewhere.
 */
export const isUnseen = (el, { width, height } = boxIn(el), style = styleOf(el)) =>
  style.opacity < 0.05 ||
  (/\d/.test(style.transform + style.scale + style.rotate) && width * height * 99 < clientWidthOf(el) * clientHeightOf(el)) ||
  /t\((([5-9]\d|.*100)\S*%|([01]px\W+){4})|e\(0|n\((0\D+)+\)|y\(0\)/.test(style.clipPath + style.clip + style.filter) ||
  (isOut(el) && (isField(el) || kidsOf(el).every((kid) => kindOf(kid) > 1)));

const MOST_LEVELS = 50;
const isClear = (colour) => /(ba|\/).* 0(\.0.*)?\)$/.test(colour);

/** What an element lays under the words in it: a colour, 1 for a picture, 2 for a layer over who knows what, or 0. */
const groundOf = once((el, { backgroundColor, backgroundImage, position } = styleOf(el)) => (backgroundImage != 'none' ? 1 : !isClear(backgroundColor) ? backgroundColor : position != 'static' && 2));

/** Words have a size, and are not indented away. */
const isLegible = ({ fontSize, textIndent }) => parseFloat(fontSize) >= 2 && !/^(-\d{3}|100%)/.test(textIndent);

/** Can a person see generated content in this style? It has no box to measure. */
export const hasInk = (style) =>
  isLegible(style) && style.opacity >= 0.05 && !isClear(style.webkitTextFillColor);

/** A colour up to a difference that nobody sees. @type {(colour: any) => string} */
const shade = (colour) => ('' + colour).replace(/\d+/g, (/** @type {any} */ level) => /** @type {any} */ (level >> 3));

/**
 * Are the element's own words invisible: hidden, out of sight, in closed details, no size, no ink, indented away, or of the colour of the ground they stand on?
 * A picture or a positioned layer on the way to the ground makes it unsure, and then they count as seen.
 */
export const isInkless = once((el) => {
  const style = styleOf(el), ink = style.webkitTextFillColor;
  let levels = MOST_LEVELS, ground;
  // So far up, that a deep page costs no more than its elements.
  for (let at = el; at && !ground; at = flatParent(at)) ground = levels-- ? groundOf(at) : 2;
  // The canvas is white unless the page says otherwise.
  ground = ground || (/dark/.test(styleOf(rootOf()).colorScheme) ? 2 : 'rgb(255, 255, 255)');
  return !isVisible(el) || isOut(el) || isClosed(el) || !isLegible(style) || (isClear(ink) ? ground != 1 : shade(ground) == shade(ink)) || zoomOf(el) < 0.1;
});
