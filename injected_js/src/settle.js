/** The guard over a prepared action, and after it: what happened, and is the page quiet again? */
import { assign, boxOf, cut, doc, findAll, fold, is, isLive, kindOf, matches, now, parentOf, shadowOf } from './dom.js';
import { isSeen, landing, pause } from './hit.js';
import { snapshot } from './snapshot.js';
import { resolve } from './refs.js';
import { isUnseen } from './style.js';
import { newTurn } from './turn.js';

/** What the page has done since the action was prepared. */
let state;
/** Calls back on every change of the document and of the open shadow roots that are in it. */
export const observe = (callback) => {
  const observer = new MutationObserver(callback), roots = [doc];
  for (const root of roots) {
    observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
    for (const el of root == doc ? findAll(doc.documentElement, '*') : root.querySelectorAll('*')) if (shadowOf(el)) roots.push(shadowOf(el));
  }
  return () => observer.disconnect();
};

const GUARDED = 'pointerdown touchstart mousedown pointerup touchend mouseup click dblclick contextmenu';

/**
 * Watches the document and arms the guard: the first trusted event decides; when it misses the element, or the element has
 * become something else since it was checked, the gesture is stopped. What has come over the element since then gets no
 * part of the tap.
 */
export const watch = (el, on, open, ref) => {
  if (state) state._stop();
  const mine = (state = { _at: 0, _types: '', _hit: false, _texts: [], _changed: new Set() });
  const listener = (event) => {
    const { type, target } = event;
    if (type == 'invalid') mine._texts.push(target.validationMessage);
    if (/load|hide/.test(type)) mine._left = 1;
    // Until the first click: those after it are a label's doing.
    if (is(type, GUARDED) && el && !open && event.isTrusted && (mine._hit !== true || !is('click', mine._types))) {
      const over = landing(event.composedPath()[0], el, on);
      let stops = mine._hit === true && over !== true && isLive(el);
      if (stops) mine._over = over;
      else if (mine._hit !== true) {
        newTurn();
        mine._error = mine._error || resolve(ref).error;
        mine._hit = mine._hit || (!mine._error && over);
        if ((stops = mine._hit !== true)) mine._types = ' click';
      }
      if (stops) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    }
    mine._types += ' ' + type;
  };
  const listen = (way) => {
    for (const type of (GUARDED + ' beforeunload pagehide invalid input keydown').split(' ')) window[way + 'EventListener'](type, listener, { capture: true, passive: false });
  };
  const stop = observe((records) => {
    mine._at = now();
    for (const { target, addedNodes, type } of records)
      for (const node of addedNodes[0] ? addedNodes : type[0] == 'c' || matches(target, '[role=alert],[role=status],[role$=dialog],[aria-live],dialog') ? [target] : []) if (mine._changed.size < 500) mine._changed.add(node);
  });
  listen('add');
  mine._stop = () => {
    stop();
    listen('remove');
  };
  setTimeout(mine._stop, 3e4);
};

/** `expectMs` is how long the input may take to come; the page then has `settleMs` to become quiet, within that time. */
export const settle = async ({ settleMs = 1e3, quietMs = 20, expect, expectMs = settleMs, snapshot: options }) => {
  const start = now();
  if (!state) watch();
  const mine = state, { _texts, _changed } = mine, late = () => mine._left || now() >= end, quiet = (ms) => now() - mine._at > ms;
  let end = start + expectMs;
  // The event may never come: a page that swaps its form on the way leaves it without a target.
  while (!late() && expect && !is(expect, mine._types) && !/contextmenu/.test(mine._types) && !(mine._at && mine._types && quiet(200))) await pause();
  end = Math.min(end, now() + settleMs);
  await pause();
  await pause();
  while (!late() && !quiet(quietMs)) await pause(5);
  // Input that is still on its way meets the guard.
  if (!expect || mine._types) {
    mine._stop();
    state = 0;
  }
  newTurn();
  // What can be read now and could not before.
  for (let node of _changed) {
    if (kindOf(node) == 3) node = parentOf(node);
    const words = node && kindOf(node) == 1 && isLive(node) && isSeen(node) && !isUnseen(node, boxOf(node)) && cut(fold(node.innerText || ''), 200);
    if (words && !_texts[7] && !_texts.some((text) => text.includes(words))) _texts.push(words);
  }
  return assign(
    { reason: mine._left ? 'navigation' : late() ? 'deadline' : 'quiet', waitedMs: now() - start, hit: mine._hit, error: mine._error, over: mine._over, texts: _texts },
    options && !mine._left && { snapshot: snapshot(options) },
  );
};
