/**
 * Words that leave no trace on the screen, whatever the syntax: what colour they end up in over their ground, after all
 * opacities on the way, and how large they are after all transforms.
 *
 * Where only a picture could tell (gradients, masks, blend modes, a layer above, positioned grounds) they count as seen.
 */
import { boxOf, flatParent, max } from '../core/dom.js';
import { styleOf } from '../core/visibility.js';
import { once } from '../core/call_cache.js';

// Of 255; of 1; px.
const LEAST_DIFFERENCE = 8, LEAST_OPACITY = 0.05, LEAST_SIZE = 2;

let brush;
const colours = new Map();

/** Any CSS colour as [red, green, blue, alpha] of 255: the browser paints it. */
const paint = (colour) => {
  let found = colours.get(colour);
  if (!found) {
    brush = brush || new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = '#000';
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    colours.set(colour, (found = brush.getImageData(0, 0, 1, 1).data));
  }
  return found;
};

// Clips that leave nothing: a polygon without area, an inset of everything.
const NOTHING = /^polygon\((nonzero|evenodd|0(px|%)?|[, ])*\)|^inset\([^)]*\b100%/;

/** How much of an element comes through by itself. */
const ownOpacityOf = once((el) => {
  const { opacity, filter, clipPath } = styleOf(el);
  let left = NOTHING.test(clipPath) ? 0 : opacity;
  filter.replace(/(opacity|blur)\(([\d.]+)/g, (all, name, amount) => (left *= name == 'blur' ? amount < 9 : amount));
  return left;
});

/** And with all that it stands in. */
const opacityOf = (el) => {
  let left = 1;
  for (let levels = 50; el && levels--; el = flatParent(el)) left *= ownOpacityOf(el);
  return left;
};

/** The colour that the words stand on; nothing where it cannot be known, as in a frame that shows what is behind it. */
const groundOf = (at) => {
  let el = at;
  for (let levels = 50; el && levels--; el = flatParent(el)) {
    const { backgroundColor, backgroundImage, position } = styleOf(el), ground = paint(backgroundColor);
    if (backgroundImage != 'none') return;
    if (ground[3] > 250) return ground;
    if (ground[3] || position != 'static') return;
  }
  return el || at.ownerDocument != document || /dark/.test(styleOf(document.documentElement).colorScheme) ? undefined : paint('#fff');
};

/** How much smaller transforms make it: of areas, so that turning text by 90° changes nothing. */
const scaleOf = (el) => {
  const { width, height } = boxOf(el), area = el.offsetWidth * el.offsetHeight;
  return area ? Math.sqrt((width * height) / area) : 1;
};

export const isFaint = once((el) => {
  const { webkitTextFillColor, fontSize, textIndent, webkitTextSecurity, fontSizeAdjust, letterSpacing } = styleOf(el), opacity = opacityOf(el);
  // Bullets in place of the letters; letters all at one place.
  if (/^[dcs]/.test(webkitTextSecurity) || fontSizeAdjust == '0' || parseFloat(letterSpacing) < -parseFloat(fontSize)) return 1;
  if (opacity < LEAST_OPACITY || parseFloat(fontSize) * scaleOf(el) * (el.currentCSSZoom || 1) < LEAST_SIZE || /^-?\d{4}/.test(textIndent)) return 1;
  const ink = paint(webkitTextFillColor), ground = groundOf(el), covers = (ink[3] / 255) * opacity;
  return ground && max(...[0, 1, 2].map((i) => Math.abs(ink[i] - ground[i]) * covers)) < LEAST_DIFFERENCE;
});
