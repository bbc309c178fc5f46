/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { attr, boxOf, flatParent, kidsOf, tagOf } from './dom.js';
import { turn } from './turn.js';

/** @type {(el: Element) => CSSStyleDeclaration} */
export const styleOf = (el) => {
  let style = turn._styles.get(el);
  if (!style) turn._styles.set(el, (style = getComputedStyle(el)));
  return style;
};

/** Nothing in it is rendered or exposed: the element and all below. `visibility` is not here, children may undo it. */
export const isGone = (el, style) => {
  let parent;
  return (
    style.display == 'none' ||
    style.contentVisibility == 'hidden' ||
    attr(el, 'aria-hidden') == 'true' ||
    attr(el, 'inert') != null ||
    ((parent = flatParent(el)) &&
      tagOf(parent) == 'details' &&
      attr(parent, 'open') == null &&
      kidsOf(parent).find((kid) => kid.localName == 'summary') != el)
  );
};

/** Is it, or an ancestor, hidden for everybody? */
export const isHidden = (el) => {
  if (styleOf(el).visibility != 'visible') return true;
  for (; el; el = flatParent(el)) if (isGone(el, styleOf(el))) return true;
  return false;
};

/** Is a person able to bring it into view by scrolling something? */
const isScrollable = (el) => {
  for (; (el = flatParent(el)); ) if ((el.scrollLeft || el.scrollTop) && /auto|scroll/.test(styleOf(el).overflow)) return true;
  return false;
};

/**
 * The tricks that take a rendered element from sight: 1 px boxes that clip, `clip`, `clip-path`, off-screen positions.
 * Below the fold or further along in something that scrolls is not hidden.
 */
export const isUnseen = (el, style, box) => {
  if ((box.width <= 1 || box.height <= 1) && style.overflow != 'visible' && style.display != 'inline' && style.display != 'contents') return true;
  if (/inset\(([5-9]\d|100)(\.\d+)?%|circle\(0/.test(style.clipPath)) return true;
  if (/absolute|fixed/.test(style.position) && style.clip != 'auto') {
    const [top, right, bottom, left] = style.clip.match(/-?[\d.]+|auto/g) || [];
    if (right - left <= 1 || bottom - top <= 1) return true;
  }
  if (!box.width || !box.height) return false;
  const root = document.scrollingElement || document.documentElement, rtl = getComputedStyle(root).direction == 'rtl';
  return (
    (box.bottom + scrollY <= 0 ||
      (!rtl && box.right + scrollX <= 0) ||
      box.left + (rtl ? 0 : scrollX) >= (rtl ? innerWidth : Math.max(root.scrollWidth, innerWidth))) &&
    !isScrollable(el)
  );
};

const CLEAR = /^(rgba\(.*, 0\)|transparent)$/;

/** The colour an element stands on by its ancestors, "" where a picture or a positioned layer makes that unsure. */
const groundOf = (el) => {
  const chain = [];
  let ground;
  for (; el; el = flatParent(el)) {
    ground = turn._grounds.get(el);
    if (ground != null) break;
    chain.push(el);
    const style = styleOf(el), colour = style.backgroundColor;
    if (style.backgroundImage != 'none') ground = '';
    else if (!CLEAR.test(colour)) ground = colour;
    else if (/absolute|fixed|sticky/.test(style.position)) ground = '';
    if (ground != null) break;
  }
  if (ground == null) ground = 'rgb(255, 255, 255)';
  for (el of chain) turn._grounds.set(el, ground);
  return ground;
};

/** Are the element's own words invisible: no size, no ink, the colour of the ground, or indented away? */
export const isInkless = (el, style, box) => {
  if (parseFloat(style.fontSize) <= 1 || parseFloat(style.textIndent) < -99) return true;
  const ink = style.color;
  if (style.backgroundImage != 'none') return false;
  if (CLEAR.test(ink)) return !style.webkitTextFillColor || style.webkitTextFillColor == ink;
  if (ink != groundOf(el)) return false;
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const layers = document.elementsFromPoint ? document.elementsFromPoint(x, y) : [];
  let under = layers.indexOf(el);
  for (; under >= 0 && under < layers.length; under++) {
    const style = styleOf(layers[under]);
    if (/^(img|video|canvas|svg|picture)$/.test(tagOf(layers[under])) || style.backgroundImage != 'none') return false;
    if (!CLEAR.test(style.backgroundColor)) return style.backgroundColor == ink;
  }
  return true;
};
