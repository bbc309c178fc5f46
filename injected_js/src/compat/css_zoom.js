/**
 * Boxes of engines before Chromium 128, in the viewport's coordinates as today's engines give them.
 *
 * Those divide an element's boxes by the CSS `zoom` that applies to it, its own and its ancestors', while
 * `elementFromPoint`, events and drawing do not. The isolated world has prototypes of its own, so the page keeps the
 * engine's answers.
 */
import { flatParent } from '../core/dom.js';

/** Of this task: reading styles does not change them. @type {WeakMap<any, number> | undefined} */
let zooms;

/** @type {(el: any) => number} */
const zoomOf = (el) => {
  if (!zooms) {
    zooms = new WeakMap();
    Promise.resolve().then(() => { zooms = undefined; });
  }
  const path = [];
  let at = el, zoom;
  for (; at && !(zoom = zooms.get(at)); at = flatParent(at)) path.push(at);
  zoom = zoom || 1;
  while ((at = path.pop())) zooms.set(at, (zoom *= (at.nodeType == 1 && parseFloat(/** @type {any} */ (getComputedStyle(at)).zoom)) || 1));
  return zoom;
};

/** @type {(prototype: any, elementOf: (it: any) => any) => void} */
const replaceBoxes = (prototype, elementOf) => {
  const { getBoundingClientRect, getClientRects } = prototype;
  const enlarge = (it, box) => {
    const zoom = zoomOf(elementOf(it));
    return new DOMRect(box.x * zoom, box.y * zoom, box.width * zoom, box.height * zoom);
  };
  prototype.getBoundingClientRect = function () { return enlarge(this, getBoundingClientRect.call(this)); };
  prototype.getClientRects = function () { return [...getClientRects.call(this)].map((box) => enlarge(this, box)); };
};

if (!('currentCSSZoom' in Element.prototype)) {
  // Of a second evaluation in this world nothing comes.
  /** @type {any} */ (Element.prototype).currentCSSZoom = undefined;
  replaceBoxes(Element.prototype, (it) => it);
  replaceBoxes(Range.prototype, (it) => (it.startContainer.nodeType == 1 ? it.startContainer : it.startContainer.parentNode));
}
