/**
 * The second file, which the bridge sends with the first: checks before an action, the guard on it, what happened
 * after, gestures, waiting, locators, and what a snapshot of a frame needs to be put in its place. It adds itself to
 * the API and uses nothing else of the first file than that: refs are there.
 */
import { install } from '../core/api.js';
import { doc, is, round, tagOf } from '../core/dom.js';
import { caretToEnd, typedValue } from '../input/caret.js';
import { checkedState, checkedWithoutTap, waitChecked } from '../input/checked.js';
import { addPiece, detachedFileInput, dropFiles, fileInputOf, fileInputState, finishFile, giveFiles, newFileMaker } from '../input/files.js';
import { frameMatrix, pointInParent } from '../input/frame_geometry.js';
import { boxInView, dragAndDrop, openMenu, scrollFrom, wasDragCancelled, watchDrag, watchMenu } from '../input/gestures.js';
import { chooseOffered, offerAt, offerAtFocus } from '../input/live_pickers.js';
import { locate } from '../locate/locate.js';
import { visibleTexts } from '../masking/visible_texts.js';
import { awaitKeys, guard, keepTap } from './guard.js';
import { focused, landing } from './landing.js';
import { pickerAt, refuse } from './pickers.js';
import { prepare } from './prepare.js';
import { settle } from './settle.js';
import { waitFor, wordsFor } from './wait.js';

const indexIn = (frames, frame) => [].indexOf.call(frames, frame);

/** The refs of elements, with their roles and names. @type {(els: Element[]) => [string, string, string][]} */
const refsOf = (els) => els.map((el) => api.refOf(el));

/**
 * Where keys would go instead of to this element, or undefined when they go to it or to what is in it.
 * @type {(el: Element) => {error: {code: string, holder: string[]}} | undefined}
 */
const focusAway = (el) => {
  const at = focused();
  return landing(at, el) === true ? undefined : { error: { code: 'action_failed', holder: at && at != doc.body ? api.refOf(at).slice(1) : [] } };
};

/**
 * Those elements, by their refs, that are what they were shown as and can still be seen.
 * @type {(refs: string[]) => string[]}
 */
const stillShown = (refs) =>
  refs.filter((ref) => {
    const el = api.element(ref);
    return el.nodeType && el.getClientRects().length && getComputedStyle(el).visibility == 'visible' && !el.closest('[aria-hidden=true],[inert]');
  });

const api = install({
  addPiece, awaitKeys, boxInView, caretToEnd, checkedState, checkedWithoutTap, chooseOffered, detachedFileInput,
  dragAndDrop, dropFiles, fileInputOf, fileInputState, finishFile, focusAway, focused, frameMatrix, giveFiles, guard,
  keepTap, locate, newFileMaker, offerAt, offerAtFocus, openMenu, pickerAt, pointInParent, prepare, refsOf, refuse,
  scrollFrom, settle, stillShown, typedValue, visibleTexts, waitChecked, waitFor, wasDragCancelled, watchDrag,
  watchMenu, wordsFor,
});
api.guard();

const { snapshot } = api;
api.snapshot = (options) => {
  const { boxes } = options || {};
  // What is undefined is not in the JSON.
  const extra = (el, { left, top, width, height }) => ({
    box: boxes ? [left, top, width, height].map(round) : undefined,
    frame: is(tagOf(el), 'iframe frame') ? indexIn(window, el.contentWindow) : undefined,
  });
  return Object.assign(snapshot(Object.assign({}, options, { extra })), { frameIndex: indexIn(parent, window) });
};
