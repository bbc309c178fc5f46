/** After an action: what happened, and is the page quiet again? */
import { attr, cut, fold, findAll, isLive, kindOf, matches, parentOf, textOf } from './dom.js';
import { frame, isSeen, pause } from './hit.js';
import { introduce } from './refs.js';
import { newTurn } from './turn.js';
import { snapshot } from './snapshot.js';
import { guard } from './prepare.js';
import { styleOf } from './style.js';

/** What the page has done since the action was prepared. */
let watched;
/** Requests in flight, as far as somebody outside tells. */
export const net = { pending: 0 };

const LOUD = '[role=alert],[role=status],[role=dialog],[role=alertdialog],[aria-live],dialog,output';

export const watch = (el) => {
  unwatch();
  const state = (watched = { _at: performance.now(), _changed: new Set(), _said: [], _types: new Set(), _leaving: false });
  const observer = new MutationObserver((records) => {
    state._at = performance.now();
    for (const { type, target, addedNodes } of records) {
      if (state._changed.size > 500) break;
      if (type == 'childList') addedNodes.forEach((node) => state._changed.add(node));
      else if (type == 'characterData') state._changed.add(target);
      else if (matches(target, LOUD)) state._changed.add(target);
    }
  });
  const what = { childList: true, subtree: true, characterData: true, attributes: true };
  observer.observe(document, what);
  if (el && el.getRootNode() != document) observer.observe(el.getRootNode(), what);
  const listener = (event) => {
    state._types.add(event.type);
    if (event.type == 'invalid') state._said.push(event.target.validationMessage);
    else if (event.type != 'input' && event.type != 'keyup') state._leaving = true;
  };
  const types = ['beforeunload', 'pagehide', 'invalid', 'input', 'keyup'];
  for (const type of types) addEventListener(type, listener, true);
  state._stop = () => {
    observer.disconnect();
    for (const type of types) removeEventListener(type, listener, true);
  };
};

const unwatch = () => {
  if (watched) watched._stop();
};

/** What can be read now and could not before. */
const newTexts = (state) => {
  const texts = state._said.slice();
  for (let node of state._changed) {
    if (kindOf(node) == 3) node = parentOf(node);
    if (!node || kindOf(node) != 1 || !isLive(node) || /^(script|style|option)$/.test(node.localName) || !isSeen(node) || styleOf(node).opacity == '0') continue;
    const words = cut(fold(textOf(node).slice(0, 2000)), 200);
    if (words && !texts.some((text) => text.includes(words))) texts.push(words);
    if (texts.length > 7) break;
  }
  return texts;
};

export const settle = async (options) => {
  const o = Object.assign({ settleMs: 1000, quietMs: 20, expect: null, snapshot: null, pending: 0 }, options);
  const start = performance.now(), end = start + o.settleMs;
  newTurn();
  if (!watched) watch();
  const state = watched, done = () => performance.now() >= end;
  const arrived = () => {
    if (o.expect == 'click') return (guard._hit && guard._hit !== true) || guard._seen.has('click') || guard._seen.has('contextmenu');
    return !o.expect || state._types.has(o.expect == 'key' ? 'keyup' : o.expect);
  };
  while (!arrived() && !done() && !state._leaving) await frame();
  if (!state._leaving) {
    await frame();
    await frame();
  }
  // The observer reports in a microtask after each task, so `_at` is up to date here.
  while (!done() && !state._leaving && (net.pending > 0 || performance.now() - state._at < o.quietMs)) await pause(Math.max(4, o.quietMs / 3));
  const hit = guard._hit == null ? false : guard._hit;
  guard._disarm();
  unwatch();
  watched = null;
  newTurn();
  const out = { reason: state._leaving ? 'navigation' : done() ? 'deadline' : 'quiet', waitedMs: Math.round(performance.now() - start), hit, texts: newTexts(state) };
  const active = document.activeElement;
  if (active && active != document.body && active != document.documentElement) out.focus = introduce(active);
  if (o.snapshot && !state._leaving) out.snapshot = snapshot(o.snapshot);
  return out;
};
