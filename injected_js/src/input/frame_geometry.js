/** Where the document of a child frame lies in the viewport of this one. */
import { boxOf, flatParent, shadowOf } from '../core/dom.js';
import { hitAt, nameOfHit } from '../checks/landing.js';

/** @typedef {[number, number, number, number, number, number]} Matrix a to f, as of a DOMMatrix */

/** The iframe that shows `window[index]`, in open shadow roots too. */
const frameAt = (index) => {
  const child = window[index], roots = [document];
  for (let root; (root = roots.pop()); )
    for (const el of root.querySelectorAll('*')) {
      if (shadowOf(el)) roots.push(shadowOf(el));
      if (el.contentWindow !== undefined && el.contentWindow === child) return el;
    }
};

/**
 * The product of the transforms of an element and its ancestors. Only what they do besides moving counts. A perspective
 * is not worked out: what is behind one cannot be touched.
 */
const transformOf = (el) => {
  let matrix = new DOMMatrix();
  for (let at = el; at; at = flatParent(at)) {
    const { rotate, scale, transform } = getComputedStyle(at), own = new DOMMatrix();
    if (/^[-.\d]+deg$/.test(rotate)) own.rotateSelf(parseFloat(rotate));
    if (/^[-.\d ]+$/.test(scale)) {
      const [x, y = x] = scale.split(' ').map(Number);
      own.scaleSelf(x, y);
    }
    matrix = own.multiply(new DOMMatrix(transform)).multiply(matrix);
  }
  return matrix;
};

/** @type {(index: number) => {frame: any, matrix: Matrix} | undefined} */
const place = (index) => {
  const frame = frameAt(index);
  if (!frame) return;
  const matrix = transformOf(frame), style = getComputedStyle(frame), { left, top, width, height } = boxOf(frame);
  // Transforms and `zoom` leave the frame's middle in the middle of its box.
  const halfWidth = frame.offsetWidth / 2, halfHeight = frame.offsetHeight / 2;
  const transformedWidth = 2 * (Math.abs(matrix.a) * halfWidth + Math.abs(matrix.c) * halfHeight);
  const zoom = Math.abs(width - transformedWidth) < 1 ? 1 : width / transformedWidth;
  const a = matrix.a * zoom, b = matrix.b * zoom, c = matrix.c * zoom, d = matrix.d * zoom;
  const x = frame.clientLeft + parseFloat(style.paddingLeft) - halfWidth, y = frame.clientTop + parseFloat(style.paddingTop) - halfHeight;
  // Before Chromium 128 a frame's `zoom` enlarged its borders and not its document; those engines do not know it by name.
  const inner = /** @type {any} */ (frame).currentCSSZoom ? 1 : 1 / zoom;
  return { frame, matrix: [a * inner, b * inner, c * inner, d * inner, left + width / 2 + a * x + c * y, top + height / 2 + b * x + d * y] };
};

/** From points of the child document to points here; null without such a frame. @type {(index: number) => Matrix | null} */
export const frameMatrix = (index) => (place(index) || { matrix: null }).matrix;

/**
 * A point of the child's viewport in what is seen of this one, and whether the frame is hit there. Of a pinched page
 * less is seen than its viewport.
 * @type {(index: number, x: number, y: number) => {x: number, y: number, hit: boolean, over: string} | null}
 */
export const pointInParent = (index, x, y) => {
  const found = place(index);
  if (!found) return null;
  const { frame, matrix: [a, b, c, d, left, top] } = found, view = visualViewport;
  const inX = left + a * x + c * y, inY = top + b * x + d * y, seenX = inX - view.offsetLeft, seenY = inY - view.offsetTop;
  const isOutside = seenX < 0 || seenY < 0 || seenX > view.width || seenY > view.height;
  const hit = isOutside ? null : hitAt(inX, inY, document);
  return { x: seenX, y: seenY, hit: hit == frame, over: nameOfHit(hit) };
};
