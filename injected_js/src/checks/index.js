/**
 * The second file, which the bridge sends with the first: checks before an action, the guard on it, what happened
 * after, waiting, and what a snapshot of a frame needs so that it can be put in its place. It adds itself to the API
 * and uses nothing else of the first file than that: refs are there.
 */
import { doc, is, round, tagOf } from '../core/dom.js';
import { install } from '../core/api.js';
import { focused, landing } from './landing.js';
import { pickerAt, refuse } from './pickers.js';
import { prepare } from './prepare.js';
import { awaitKeys, guard, keepTap, settle } from './settle.js';
import { waitFor, wordsFor } from './wait.js';

const indexIn = (frames, frame) => [].indexOf.call(frames, frame);
const api = install({
    guard,
    keepTap,
    prepare,
    settle,
    waitFor,
    wordsFor,
    awaitKeys,
    pickerAt,
    refuse,
    focused,
    refsOf: (els) => els.map((el) => api.refOf(el)),
    /** Keys go elsewhere: the failure that says where, or nothing when they go to this element or what is in it. */
    focusAway: (el, at = focused()) => (landing(at, el) === true ? undefined : { error: { code: 'action_failed', holder: at && at != doc.body ? api.refOf(at).slice(1) : [] } }),
  }),
  { snapshot } = api;
api.guard();

api.snapshot = (options) => {
  const { boxes } = options || {};
  // What is undefined is not in the JSON.
  const extra = (el, { left, top, width, height }) => ({
    box: boxes ? [left, top, width, height].map(round) : undefined,
    frame: is(tagOf(el), 'iframe frame') ? indexIn(window, el.contentWindow) : undefined,
  });
  return Object.assign(snapshot(Object.assign({}, options, { extra })), { frameIndex: indexIn(parent, window) });
};
