/**
 * The second file, which the bridge sends with the first: checks before an action, the guard on it, what happened
 * after, gestures, waiting, locators, and what a snapshot of a frame needs to be put in its place. It adds itself to
 * the API and uses nothing else of the first file than that: refs are there.
 */
import { install } from '../core/api.js';
import { doc, is, round, shadowOf, tagOf } from '../core/dom.js';
import { caretToEnd, typedValue } from '../input/caret.js';
import { checkedState, checkedWithoutTap, waitChecked } from '../input/checked.js';
import { rootCorner, viewLayout } from '../document/view.js';
import { readBlob, readStorage, writeStorage } from '../document/storage.js';
import { reportTitle, reportTitles, titleAfter } from '../document/title.js';
import { addPiece, detachedFileInput, dropFiles, fileInputOf, fileInputState, finishFile, giveFiles, newFileMaker } from '../input/files.js';
import { frameMatrix, pointInParent } from '../input/frame_geometry.js';
import { boxInView, openMenu, wasDragCancelled, watchDrag, watchMenu } from '../input/gestures.js';
import { chooseOffered, offerAt, offerAtFocus } from '../input/live_pickers.js';
import { onElement } from '../input/on_element.js';
import { rangeState } from '../input/range.js';
import { locate } from '../locate/locate.js';
import { visibleTexts } from '../masking/visible_texts.js';
import { actAndSettle, disarmedViewSize, dragAndSettle, focusForKeys, scrollAndSettle } from './act.js';
import { contextRule } from './context.js';
import { awaitKeys, guard, keepTap } from './guard.js';
import { focused } from './landing.js';
import { pickerAt } from './pickers.js';
import { prepare } from './prepare.js';
import { seenText } from './seen_text.js';
import { settle } from './settle.js';
import { textsFor, waitFor } from './wait.js';

const indexIn = (frames, frame) => [].indexOf.call(frames, frame);

/** The refs of elements, with their roles and names. @type {(els: Element[]) => [string, string, string][]} */
const refsOf = (els) => els.map((el) => api.refOf(el));

/**
 * Those elements, by their refs, that are what they were shown as and can still be seen.
 * @type {(refs: string[]) => string[]}
 */
const stillShown = (refs) =>
  refs.filter((ref) => {
    const el = api.element(ref);
    return el.nodeType && el.getClientRects().length && getComputedStyle(el).visibility == 'visible' && !el.closest('[aria-hidden=true],[inert]');
  });

/**
 * The elements that the engine has found click handlers on; the option `clickHandlers` gives them refs. One that fills half
 * of the view handles the clicks of what it holds. @type {(els: Element[]) => void}
 */
const useHandlers = (els) => {
  const isPart = ({ width, height }) => width * height < (innerWidth * innerHeight) / 2;
  // Listeners of documents and shadow roots are listed too.
  api.handled = new WeakSet(els.filter((el) => el.nodeType == 1 && isPart(el.getBoundingClientRect())));
};

/** The document's open shadow roots, a number of them. @type {() => ShadowRoot[]} */
const openShadowRoots = () => {
  const roots = [], trees = [doc];
  for (let tree; (tree = trees.pop()) && roots.length < 200; )
    for (const el of tree.querySelectorAll('*')) if (shadowOf(el)) trees.push(roots[roots.push(shadowOf(el)) - 1]);
  return roots;
};

const api = install({
  actAndSettle, addPiece, awaitKeys, boxInView, caretToEnd, checkedState, checkedWithoutTap, chooseOffered,
  detachedFileInput, disarmedViewSize, dragAndSettle, dropFiles, fileInputOf, fileInputState, finishFile, focusForKeys, focused,
  frameMatrix, giveFiles, guard, keepTap, locate, newFileMaker, offerAt, offerAtFocus, onElement, openMenu, openShadowRoots, pickerAt,
  pointInParent, prepare, rangeState, readBlob, readStorage, refsOf, reportTitle, reportTitles, rootCorner, scrollAndSettle, seenText, settle, stillShown,
  textsFor, titleAfter, typedValue, useHandlers, viewLayout, visibleTexts, waitChecked, waitFor, wasDragCancelled, watchDrag, watchMenu,
  writeStorage,
});
api.handled = new WeakSet();
api.guard();
api.useContexts(contextRule);

const { snapshot, query } = api;
api.query = (ref, kind, limit) => query(ref, kind, limit, api.seenText);
api.snapshot = (options) => {
  const { boxes } = options || {};
  // What is undefined is not in the JSON.
  const extra = (el, { left, top, width, height }) => ({
    box: boxes ? [left, top, width, height].map(round) : undefined,
    frame: is(tagOf(el), 'iframe frame') ? indexIn(window, el.contentWindow) : undefined,
  });
  return Object.assign(snapshot(Object.assign({}, options, { extra })), { frameIndex: indexIn(parent, window) });
};
