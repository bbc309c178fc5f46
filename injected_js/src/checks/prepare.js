/** Before an action: is the ref still itself, can it be acted on, and does a tap land on it? */
import { attr, boxOf, doc, findAll, flatParent, is, max, min, now, tagOf } from '../core/dom.js';
import { clipperOf } from '../core/visibility.js';
import { firstBox, inspect, isSeen } from '../core/actionability.js';
import { newCall } from '../core/call_cache.js';
import { onElement } from '../input/on_element.js';
import { hitAt, landing, nameOfHit, withLine } from './landing.js';
import { pause } from './pause.js';
import { pickerAt, refusalOf } from './pickers.js';
import { arm } from './guard.js';
import { wrapperOf } from './targets.js';

/** Where to tap in what is seen of an element, in parts of it: the middle, or a band of it that nothing lies over. */
const SPOTS = [[0.5, 0.5], [0.5, 0.2], [0.5, 0.8], [0.2, 0.5], [0.8, 0.5], [0.5, 0.06], [0.5, 0.94], [0.06, 0.5], [0.94, 0.5]];
/** A cover that looks as if it stayed is waited for no longer. */
const COVERED_PATIENCE_MS = 2e3;
/** What goes by itself: messages, and what says that it is at work. */
const PASSING = '[role=alert],[role=status],[role=progressbar],[aria-live],[aria-busy=true]';
const CLOSING = /close|dismiss|accept|agree|cancel|\bok\b|got it|[x×✕✖]$/i;

/**
 * What is in view of its first box, or nothing: inside of all that clips it, and of a pinched page less is seen than its
 * viewport.
 */
const seenOf = (el) => {
  const v = visualViewport;
  let { left, top, right, bottom } = firstBox(el);
  const clip = (box) => {
    left = max(left, box.left);
    top = max(top, box.top);
    right = min(right, box.right);
    bottom = min(bottom, box.bottom);
  };
  clip({ left: v.offsetLeft, top: v.offsetTop, right: v.offsetLeft + v.width, bottom: v.offsetTop + v.height });
  for (let at = clipperOf(el); at; at = clipperOf(at)) clip(boxOf(at));
  return right > left && bottom > top && { left, top, width: right - left, height: bottom - top };
};

/** Does the frame show its document as large as it is laid out, right inside of its border? */
const isPlain = ({ clientLeft, clientTop }, { width, height }, { innerWidth, innerHeight }) => (width - 2 * clientLeft - innerWidth) ** 2 + (height - 2 * clientTop - innerHeight) ** 2 < 2;

/**
 * Where a tap reaches the element, in what is seen of the outermost frame that lets itself be asked, `up` frames above,
 * and is not padded, scaled or turned (bridge/page/pointer.py goes on from there); or `by`, what it would land on instead,
 * which is the element `over`. What is `within` its wrapper may lie over it, and is tapped `on` the wrapper's behalf.
 * Nothing where it is out of view.
 */
const reach = (el, tap, within) => {
  const seen = seenOf(el);
  let covered, instead;
  for (const [across, down] of seen ? SPOTS : []) {
    const at = { x: seen.left + seen.width * across, y: seen.top + seen.height * down };
    if (!tap) return at;
    const hit = hitAt(at.x, at.y, el.ownerDocument);
    let view = /** @type {any} */ (window), by = landing(hit, el), over = hit, frame, up = 0;
    const isWithin = by !== true && within && landing(hit, within) === true;
    if (isWithin) by = true;
    try {
      while (by === true && (frame = view.frameElement)) {
        const box = boxOf(frame);
        if (!isPlain(frame, box, view)) break;
        at.x += box.left + frame.clientLeft;
        at.y += box.top + frame.clientTop;
        by = landing((over = hitAt(at.x, at.y, frame.ownerDocument)), frame);
        view = view.parent;
        up++;
      }
    } catch (e) {}
    const v = view.visualViewport, x = at.x - v.offsetLeft, y = at.y - v.offsetTop;
    // In a frame, what is in its viewport may be out of the page's.
    if (up && (x < 0 || y < 0 || x > v.width || y > v.height)) continue;
    if (by === true && !isWithin) return { x, y, up, hit };
    if (by === true) instead = instead || { x, y, up, hit, on: within };
    else covered = covered || { by, over };
  }
  return instead || covered;
};

/** Does it lie over nearly all that is seen? Then no scrolling brings the element out from under it. */
const fillsView = (over, { width, height } = boxOf(over), v = visualViewport) => width * height > 0.9 * v.width * v.height;

/**
 * Brings an element into view that is out of it, at once and to the middle; and, where `mayMove`, out from under what
 * lies over it at one edge, such as a fixed bar. `reach` says where it is then.
 */
const aim = (el, isWanted, tap, mayMove, within) => {
  let at = isWanted ? undefined : reach(el, tap, within);
  const needsMove = at && at.by && mayMove && at.over && !fillsView(at.over);
  for (const block of !at ? ['center', ...(mayMove ? ['end', 'start', 'center'] : [])] : needsMove ? ['center', 'end', 'start', 'center'] : []) {
    el.scrollIntoView({ block, inline: 'center', behavior: 'instant' });
    at = reach(el, tap, within);
    if (at && !at.by) break;
  }
  return at;
};

/** Is it on its way, or about to go? */
const isPassing = (over) => over.closest(PASSING) || (over.getAnimations && over.getAnimations({ subtree: true }).some((it) => it.playState == 'running')) || doc.readyState != 'complete';

/** What lies over the element as a whole, from the inside out as far as the element is not in it. */
const coverOf = (over, el) => {
  const all = [];
  for (let at = over; at && landing(el, at) !== true && !is(tagOf(at), 'body html'); at = flatParent(at)) all.push(at);
  return all;
};

/** A control that may close what lies over the element: its ref, role and name. */
const closerIn = (cover) => {
  const controls = findAll(cover, 'button,[role=button],a').filter((it) => isSeen(it)).slice(0, 50).map((it) => __agentBrowser.refOf(it));
  return controls.find((it) => CLOSING.test(it[2])) || (controls.length == 1 ? controls[0] : undefined);
};

/** @type {(by: string, over: any, el: any) => object} */
const coveredError = (by, over, el) => {
  const all = over && over.ownerDocument == doc ? coverOf(over, el) : [], named = all.find((it) => attr(it, 'id')) || all[all.length - 1];
  return { error: { code: 'covered', message: 'covered by ' + (named ? nameOfHit(named) : by), closer: named && closerIn(all[all.length - 1]) } };
};

/**
 * @typedef {object} Preparing
 * @property {number} [timeoutMs]
 * @property {boolean} [hit] a finger will touch it: it has to be in view, still and on top
 * @property {boolean} [noPicker] guards against what would open a dialog, too
 * @property {boolean} [keys] guards keys
 * @property {[string, ...any[]]} [first] a function of the API and its arguments, called with the element; unless it
 *     returns undefined, nothing is waited for, and its value is `first` of the reply
 * @property {string} [also] one that is called when the element is ready; its value is `also` of the reply
 */

/**
 * Waits until the element can take this action, and arms the guard over it.
 * @type {(ref: string, action: string, options?: Preparing) => Promise<any>}
 */
export const prepare = async (ref, action, { timeoutMs = 5e3, hit = true, noPicker, keys, first, also } = {}) => {
  const needless = first ? onElement(ref, ...first) : undefined;
  if (needless !== undefined) return { first: needless };
  const end = now() + timeoutMs, isWanted = action == 'scroll_into_view', isPlaced = hit || isWanted;
  let last, box, coveredAt = 0, hasMoved;
  for (; ; last = box) {
    // Always in an animation frame: a box that is measured between two of them may be that of the frame before. What is
    // done by script goes to the element wherever it is, and waits for none.
    if (isPlaced || last) await pause();
    const el = __agentBrowser.element(ref);
    if (!el.nodeType) return { error: withLine(el.error) };
    newCall();
    const within = wrapperOf(el), { _on, _code } = inspect(el, action, (!isSeen(el) && within) || undefined), pickerOf = (node) => noPicker && pickerAt(node), at = !_code && isPlaced ? aim(_on, isWanted, hit, !hasMoved, within) : {}, { left, top, width, height } = boxOf(_on);
    // Once: a page that scrolls back is not fought.
    hasMoved = hasMoved || !!(at && at.by);
    coveredAt = at && at.by ? coveredAt || now() : 0;
    const refused = refusalOf(el, action, pickerOf(el) || pickerOf((at || {}).hit));
    if (refused) return { error: refused };
    box = '' + [left, top, width, height];
    // Equal over two frames: what slides is not tapped on its way.
    const moves = isPlaced && box != last, lastSeen = _code ? undefined : moves ? 'moving' : at && at.by && 'covered by ' + at.by, code = _code || (!moves && (!at ? 'not_visible' : at.by && 'covered'));
    if (!code && !lastSeen) {
      arm({ _keys: keys ? 1 : 0, _ref: ref, _el: el, _on: at.on || _on, _isOpen: !hit, _isDouble: action == 'double_click', _isDrag: action == 'drag', _noPicker: noPicker });
      return { ok: true, box: [left, top, width, height], tag: tagOf(el), x: at.x, y: at.y, up: at.up, also: also && onElement(ref, also) };
    }
    const isStuck = code == 'covered' && at.over && now() - coveredAt > COVERED_PATIENCE_MS && !isPassing(at.over);
    if (isStuck || (code == 'covered' && now() > end)) return coveredError(at.by, at.over, _on);
    if (now() > end) return { error: { code: code || 'timeout', message: lastSeen, lastSeen } };
  }
};
