/** What a person can see of an element, asked of computed style and boxes only where needed. */
import { boxOf, flatParent, is, matches, tagOf } from './dom.js';
import { turn } from './turn.js';

/** @type {(el: Element) => CSSStyleDeclaration} */
export const styleOf = (el) => {
  let style = turn._styles.get(el);
  if (!style) turn._styles.set(el, (style = getComputedStyle(el)));
  return style;
};

export const isVisible = (el) => styleOf(el).visibility == 'visible';

/** Nothing of it is rendered or exposed, the element and all below. `visibility` is apart: children may undo it. */
export const isGone = (el) =>
  styleOf(el).display == 'none' || styleOf(el).contentVisibility == 'hidden' || matches(el, '[aria-hidden=true],[inert],details:not([open])>:not(summary:first-of-type)');

/** Is it, or an ancestor, hidden for everybody? */
export const isHidden = (el) => {
  if (!isVisible(el)) return 1;
  for (; el; el = flatParent(el)) if (isGone(el)) return 1;
};

/**
 * The tricks that take a rendered element from sight: opacity 0, boxes of 1 px that clip, `clip`, `clip-path`, positions
 * outside of what can be scrolled to. Below the fold, or further along in something that scrolls, is not hidden.
 */
export const isUnseen = (el, box) => {
  const style = styleOf(el), { width, height } = box, root = document.scrollingElement || document.documentElement;
  if (
    style.opacity == '0' ||
    ((width < 2 || height < 2) && style.overflow != 'visible' && !is(style.display, 'inline contents')) ||
    /inset\(([5-9]\d|100)(\.\d+)?%|circle\(0/.test(style.clipPath) ||
    (/rect\(([01]px[, )]+){4}/.test(style.clip) && /abs|fix/.test(style.position))
  )
    return 1;
  const rtl = styleOf(root).direction == 'rtl';
  if (!(width && height) || (box.bottom + scrollY > 0 && (rtl ? box.left < innerWidth : box.right + scrollX > 0 && box.left + scrollX < Math.max(root.scrollWidth, innerWidth)))) return;
  while ((el = flatParent(el))) if ((el.scrollLeft || el.scrollTop) && /auto|scroll/.test(styleOf(el).overflow)) return;
  return 1;
};

const isClear = (colour) => /, 0\)$|^transparent/.test(colour);

/** Are the element's own words invisible: no size, no ink, indented away, or of the colour they stand on? */
export const isInkless = (el, box) => {
  const style = styleOf(el), ink = style.color;
  if (parseFloat(style.fontSize) < 2 || parseFloat(style.textIndent) < -99) return 1;
  if (style.backgroundImage != 'none') return;
  if (isClear(ink)) return style.webkitTextFillColor == ink;
  // First by the ancestors, which costs little; a picture or a layer between makes that unsure, and then it is seen.
  let ground = el, levels = 0;
  for (; ground; ground = flatParent(ground)) {
    const { backgroundColor, backgroundImage, position } = styleOf(ground), clear = isClear(backgroundColor);
    if (backgroundImage != 'none' || (clear && /abs|fix|sti/.test(position)) || ++levels > 50 || (!clear && backgroundColor != ink)) return;
    if (!clear) break;
  }
  if (!ground && ink != 'rgb(255, 255, 255)') return;
  // Then by what is painted below it, where that can be asked.
  const layers = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  for (let i = layers.indexOf(el); i >= 0 && (el = layers[i]); i++) {
    const { backgroundColor, backgroundImage } = styleOf(el);
    if (is(tagOf(el), 'img video canvas svg') || backgroundImage != 'none') return;
    if (!isClear(backgroundColor)) return backgroundColor == ink;
  }
  return 1;
};
