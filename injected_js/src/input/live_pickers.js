/** Controls that open a system dialog, as a live view offers them to a person: a select's options instead of its dialog. */
import { boxOf, tagOf } from '../core/dom.js';
import { focused, hitAt } from '../checks/landing.js';
import { pickerAt } from '../checks/pickers.js';

const MOST_OPTIONS = 500, LABEL_CHARS = 200;
/** @type {HTMLSelectElement | undefined} the select whose options were offered last */
let offered;

/**
 * @typedef {{kind: "refused", type: string} | {kind: "select", index: number, options: [string, boolean][]}} Offer
 * of each option its label and whether it is disabled
 */

/** @type {(picker: any) => Offer | null} */
const offerOf = (picker) => {
  if (!picker) return null;
  if (tagOf(picker) != 'select') return { kind: 'refused', type: picker.type };
  offered = picker;
  return { kind: 'select', index: picker.selectedIndex, options: [...picker.options].slice(0, MOST_OPTIONS).map((it) => [it.label.slice(0, LABEL_CHARS), it.disabled]) };
};

/**
 * What a tap at a point of the viewport would open; in a child frame, which one and where in it.
 * @type {(x: number, y: number) => Offer | {frame: number, x: number, y: number} | null}
 */
export const offerAt = (x, y) => {
  const hit = hitAt(x, y, document), frame = hit && hit.contentWindow ? [].indexOf.call(window, hit.contentWindow) : -1;
  if (frame < 0) return offerOf(pickerAt(hit));
  const box = boxOf(hit), style = getComputedStyle(hit);
  return { frame, x: x - box.left - hit.clientLeft - parseFloat(style.paddingLeft), y: y - box.top - hit.clientTop - parseFloat(style.paddingTop) };
};

/** What a key would open where the focus is, in the frame that has it. @type {() => Offer | null} */
export const offerAtFocus = () => (document.hasFocus() ? offerOf(pickerAt(focused())) : null);

/** Chooses an option of the select that was offered last. @type {(index: number) => boolean} */
export const chooseOffered = (index) => {
  const option = offered && offered.options[index];
  if (!option || option.disabled || !offered.isConnected) return false;
  offered.selectedIndex = index;
  for (const type of ['input', 'change']) offered.dispatchEvent(new Event(type, { bubbles: true }));
  return true;
};
