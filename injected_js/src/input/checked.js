/** The state of checkboxes, radio buttons and switches, native and by ARIA. */
import { attr, is, matches, now } from '../core/dom.js';
import { pause } from '../checks/pause.js';
import { elementOf } from './on_element.js';

/** @typedef {boolean | "mixed" | null} CheckedState null: cannot be checked */

const CHECKABLE_INPUT = 'input[type=checkbox],input[type=radio]';
const CHECKABLE_ROLES = 'checkbox menuitemcheckbox menuitemradio radio switch';

/** "gone" without an element. @type {(el: any) => CheckedState | "gone"} */
export const checkedState = (el) => {
  if (!el) return 'gone';
  const said = attr(el, 'aria-checked'), isNative = matches(el, CHECKABLE_INPUT);
  if (said == 'mixed' || (isNative && el.indeterminate)) return 'mixed';
  if (isNative) return el.checked;
  return said ? said == 'true' : is(__agentBrowser.roleOf(el), CHECKABLE_ROLES) ? false : null;
};

/**
 * What makes a tap needless or useless: the state is there already, the element cannot be checked (null), or it is a
 * radio button, which only another one unchecks. Undefined where a tap is needed, and without an element.
 * @type {(el: Element | null, want: boolean) => CheckedState | "radio" | undefined}
 */
export const checkedWithoutTap = (el, want) => {
  const state = checkedState(el);
  if (state == 'gone') return;
  if (state == null || state == want) return state;
  return !want && (matches(el, 'input[type=radio]') || is(__agentBrowser.roleOf(el), 'radio menuitemradio')) ? 'radio' : undefined;
};

/**
 * The state of a ref's element as soon as it is the wanted one, or what it still is after `waitMs`; "gone" without an
 * element. A page may check its box only after it has asked its server.
 * @type {(ref: string, want: boolean, waitMs: number) => Promise<{state: CheckedState | "gone"}>}
 */
export const waitChecked = async (ref, want, waitMs) => {
  const end = now() + waitMs;
  for (;;) {
    const state = checkedState(elementOf(ref));
    if (state == want || state == 'gone' || now() >= end) return { state };
    await pause(50);
  }
};
