/** May an element be acted on? */
import { boxOf, labelsOf, matches, own } from './dom.js';
import { STATES } from './states.js';
import { isUnseen, isVisible } from './visibility.js';

/** @type {(el: Element) => DOMRect} the first box of it that has an area */
export const firstBox = (el) => [...own(el, 'getClientRects').call(el)].find((it) => it.width * it.height > 1) || boxOf(el);

/** @type {(el: Element) => boolean} */
export const isSeen = (el, box = boxOf(el)) => box.width * box.height && isVisible(el);

/** `_on`, what stands for the element, and `_code`, why it cannot take this action now. */
export const inspect = (el, action, _on = (isUnseen(el) && labelsOf(el).find((it) => isSeen(it))) || el) => ({
  // Its visible label stands for a control that is out of sight.
  _on,
  // Hovering, focusing and scrolling are for disabled ones too; filling, typing and clearing for what takes text.
  _code:
    !/ho|fo|sc/.test(action) && matches(el, STATES.disabled) ? 'disabled'
    : /fi|ty|cle/.test(action) && !matches(el, ':read-write,[type=color],[type=range]') ? 'not_editable'
    : !isSeen(_on) && 'not_visible',
});
