/** Sliders and spin buttons that are none of HTML's: what they hold, and where their thumb runs. */
import { aria, boxOf, flatParent } from '../core/dom.js';

const number = (text, other) => (text !== '' && isFinite(text) ? +text : other);

/**
 * Its value and bounds (WAI-ARIA 1.3, `aria-valuenow`; a slider's bounds are 0 and 100 where it names none), and how many
 * pixels the track is longer than the thumb.
 * @type {(el: any) => {now: number | null, min: number | null, max: number | null, isVertical: boolean, way: number} | null}
 */
export const rangeState = (el) => {
  if (!el) return null;
  const isSlider = __agentBrowser.roleOf(el) != 'spinbutton', isVertical = aria(el, 'orientation') == 'vertical', side = isVertical ? 'height' : 'width';
  const length = boxOf(el)[side];
  let track = el;
  for (let at = flatParent(el), levels = 4; at && levels-- && boxOf(track)[side] < 3 * length; at = flatParent(at)) if (boxOf(at)[side]) track = at;
  return {
    now: number(aria(el, 'valuenow'), null),
    min: number(aria(el, 'valuemin'), isSlider ? 0 : null),
    max: number(aria(el, 'valuemax'), isSlider ? 100 : null),
    isVertical,
    way: track == el ? 0 : boxOf(track)[side] - length,
  };
};
