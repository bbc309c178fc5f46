/** After an action: waits until the page is quiet again, and says what has happened. */
import { assign, boxOf, cut, doc, findAll, fold, is, isLive, kindOf, max, min, now, parentOf } from '../core/dom.js';
import { isSeen } from '../core/actionability.js';
import { newCall } from '../core/call_cache.js';
import { onElement } from '../input/on_element.js';
import { isUnseen } from '../core/visibility.js';
import { appearing, due, isOpened, wordsOfShown } from './appearing.js';
import { arm, armed, dropRest } from './guard.js';
import { pause } from './pause.js';
import { refusalOf } from './pickers.js';

/** An event that has not come so long after others will not come; a click waits 300 ms where two taps zoom. */
const CLICK_PATIENCE_MS = 400;
/** A page that has changed, and been quiet for so long, has had its input: it may have swapped the target away. */
const SWAPPED_MS = 200;
/** What was added transparent has begun to appear by then, or stays so. */
const DUE_MS = 300;
const POLL_MS = 5;
const MOST_TEXTS = 8, TEXT_CHARS = 200;

/**
 * @typedef {object} Settling
 * @property {number} [settleMs] the time that the page has to become quiet, once the input has come
 * @property {number} [quietMs] without changes for so long it is quiet
 * @property {string | null} [expect] the type of event that the input ends with
 * @property {number} [expectMs] how long the input may take to come
 * @property {number} [leastMs] no earlier: for frames that the input is not meant for
 * @property {object} [snapshot] options of a snapshot to take afterwards
 * @property {[string, string]} [after] a ref, and a function of the API that is called with its element at the end
 */

/**
 * @typedef {object} Settled
 * @property {"navigation" | "deadline" | "quiet"} reason why waiting ended
 * @property {number} waitedMs
 * @property {number} endedAt in ms since the epoch
 * @property {boolean} hit the input has reached its element
 * @property {string} [landedOn] what it would have reached instead
 * @property {string} [over] what came over the element, or took the focus, during the gesture
 * @property {boolean} [opened] the element says that it is expanded now
 * @property {object} [error] why the ref does not mean its element any more, or what the keys would have opened
 * @property {number} clicks of the element; for keys, how many it took
 * @property {boolean} taken the page has kept the finger's events for itself: no click follows them
 * @property {[string, string]} [appearing] role and name of what was still coming or going at the deadline
 * @property {string[]} texts what can be read now and could not before
 * @property {object} [picker] the control whose dialog the page has asked for
 * @property {object} [snapshot]
 * @property {any} [after] the value of the function `after`
 */

/** A picker that the page has opened by itself: `showPicker` gives no event that it could be kept from. */
const openPicker = () => {
  try {
    // Pickers that are part of the page can be tapped. `:open` is of Chromium 133.
    return findAll(doc.documentElement, 'select:open,input:open').find((el) => getComputedStyle(el).appearance != 'base-select');
  } catch (e) {}
};

/** Adds what can be read in changed nodes to texts. */
const addNewTexts = (nodes, texts) => {
  for (const node of nodes) {
    const el = kindOf(node) == 3 ? parentOf(node) : node;
    const words = el && kindOf(el) == 1 && isLive(el) && isSeen(el) && !isUnseen(el, boxOf(el)) && cut(fold(el.innerText || ''), TEXT_CHARS);
    if (words && texts.length < MOST_TEXTS && !texts.some((text) => text.includes(words))) texts.push(words);
  }
};

/** Events that end a gesture or a key without what was expected. */
const endsWithout = (expect, types) => (expect == 'click' || expect == 'dblclick' ? /cancel/ : /cancel|up|end/).test(types);

/** @type {(options: Settling) => Promise<Settled>} */
export const settle = async ({ settleMs = 1e3, quietMs = 20, expect, expectMs = settleMs, leastMs = 0, snapshot: options, after }) => {
  const start = now(), mine = armed || arm();
  let end = start + expectMs;
  // Nothing is waited for in a document that is left for good; its reply goes out while it is told so.
  const wait = (ms) => Promise.race([pause(ms), mine._gone]);
  const isOver = () => mine._isGone || now() >= end, isLate = () => mine._isLeft || isOver(), isQuiet = (ms) => now() - mine._changedAt > ms;
  const hasCome = () => is(expect, mine._types) || (expect != 'touchend' && is('contextmenu', mine._types));
  const mayCome = () => {
    const isSwapped = mine._changedAt && mine._types && isQuiet(SWAPPED_MS);
    const isTooLate = mine._firstInputAt && now() - max(mine._firstInputAt, start) > CLICK_PATIENCE_MS;
    return !isSwapped && !isTooLate;
  };
  mine._awaits = () => !!expect && !hasCome();
  while (mine._awaits() && !isOver() && mayCome()) await wait();
  end = min(end, now() + settleMs);
  await wait();
  await wait();
  let moving = [];
  const isMoving = () => {
    moving = appearing(mine._trees, mine._before, mine._tapped);
    // What an animation ends with is an event, after which pages go on.
    if (moving[0]) mine._changedAt = now();
    else if (!isQuiet(DUE_MS)) moving = due(mine._changed);
    return moving[0];
  };
  while (!isLate() && (!isQuiet(quietMs) || now() - start < leastMs || isMoving())) await wait(POLL_MS);

  if (mine._isStopped) dropRest();
  // Input that was expected and is neither there nor ended may still be on its way.
  mine._isOver = !!expect && !is(expect, mine._types) && !endsWithout(expect, mine._types);
  if (!mine._isOver || mine._isStopped) mine._stop();
  newCall();
  const opened = mine._picker ? undefined : openPicker(), picker = mine._picker || opened;
  addNewTexts(mine._changed, mine._texts);
  const settled = assign(
    {
      reason: /** @type {Settled['reason']} */ (mine._isLeft ? 'navigation' : isLate() ? 'deadline' : 'quiet'),
      waitedMs: now() - start,
      endedAt: now(),
      hit: mine._isHit,
      landedOn: mine._landedOn,
      error: mine._error,
      over: mine._over,
      opened: mine._tapped && !mine._wasOpen && isOpened(mine._tapped) ? true : undefined,
      clicks: mine._count,
      taken: mine._touches.some((it) => it.defaultPrevented),
      texts: mine._texts,
      appearing: moving[0] && isLate() ? wordsOfShown(moving[0]) : undefined,
      picker: picker && assign(refusalOf(0, 0, picker), { isOpen: !!opened }),
    },
    options && !mine._isLeft && { snapshot: __agentBrowser.snapshot(options) },
  );
  return after ? assign(settled, { after: onElement(...after) }) : settled;
};
