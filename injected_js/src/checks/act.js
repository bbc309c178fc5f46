/** Actions that need no input of the browser's: check, act and settle in one call. */
import { aria, assign, isField } from '../core/dom.js';
import { dragAndDrop, scrollFrom } from '../input/gestures.js';
import { elementOf, onElement } from '../input/on_element.js';
import { focusAway, withLine } from './landing.js';
import { refuse } from './pickers.js';
import { prepare } from './prepare.js';
import { settle } from './settle.js';

/** @typedef {import('./prepare.js').Preparing} Preparing */
/** @typedef {import('./settle.js').Settling} Settling */
/** @typedef {import('./settle.js').Settled} Settled */
/** @typedef {{error: {code: string}}} Failed */

const MAX_VALUE_CHARS = 1e5;
const SCROLL_TIMEOUT_MS = 300;

/**
 * Has the script perform the action. `done` is its reply.
 * @type {(ref: string, action: string, params: object, preparing: Preparing, settling: Settling) => Promise<(Settled & {done: object}) | Failed | {reason: "closed", hit: true, done: object}>}
 */
export const actAndSettle = async (ref, action, params, preparing, settling) => {
  const range = action == 'fill' && elementOf(ref);
  // It will not become editable; the bridge moves it by keys or by its thumb.
  if (range && aria(range, 'valuenow') && !isField(range)) return { error: { code: 'not_editable' } };
  const ready = await prepare(ref, action, preparing);
  if (ready.error) return ready;
  const el = elementOf(ref), refused = el && refuse(el, action, params);
  if (refused) return { error: refused };
  const done = await __agentBrowser.action(ref, action, params);
  if (!done.success) {
    withLine(done.error);
    if (done.error.type) done.error.step = (elementOf(ref) || {}).step;
    return done;
  }
  const away = action == 'focus' && focusAway(elementOf(ref));
  if (away) return away;
  // The last chance to report it: the window closes as soon as the script ends.
  if (closed) return { reason: 'closed', hit: true, done };
  const settled = assign(await settle(settling), { done });
  // A framework may have changed the value by now.
  const { value } = __agentBrowser.query(ref, 'value', MAX_VALUE_CHARS), shown = __agentBrowser.element(ref);
  if (done.value != null && value != null) done.value = value;
  if (shown.type == 'password') done.unshown = { filled: !!shown.value };
  return settled;
};

/**
 * Focuses the element for the keys that follow, and calls `then` with it.
 * @type {(ref: string, action: string, preparing: Preparing, then: string) => Promise<object>}
 */
export const focusForKeys = async (ref, action, preparing, then) => {
  const ready = await prepare(ref, action, preparing);
  if (ready.error) return ready;
  const done = await __agentBrowser.action(ref, 'focus', {});
  if (!done.success) return done;
  if (then) onElement(ref, then);
  return focusAway(elementOf(ref)) || done;
};

/**
 * Scrolls from the element, or from the middle of the page.
 * @type {(ref: string | null, dx: number, dy: number, settling: Settling) => Promise<(Settled & {moved: boolean}) | Failed>}
 */
export const scrollAndSettle = async (ref, dx, dy, settling) => {
  if (ref) {
    const ready = await prepare(ref, 'scroll', { timeoutMs: SCROLL_TIMEOUT_MS, hit: false });
    if (ready.error) return ready;
  }
  const moved = scrollFrom(ref ? elementOf(ref) : null, dx, dy);
  return assign(await settle(settling), moved);
};

/** @type {(ref: string, goalRef: string, settling: Settling) => Promise<(Settled & {dragFailure: string}) | Failed>} */
export const dragAndSettle = async (ref, goalRef, settling) => {
  const el = elementOf(ref), goal = elementOf(goalRef);
  if (!el || !goal) return { error: { code: 'ref_not_found' } };
  const dragFailure = await dragAndDrop(el, goal);
  return assign(await settle(settling), { dragFailure });
};

/** Disarms a guard that an earlier action left for late input. @type {() => Promise<[number, number]>} */
export const disarmedViewSize = async () => {
  await settle({ settleMs: 0 });
  return [visualViewport.width, visualViewport.height];
};
