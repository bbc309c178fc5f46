/** After an action: what happened, and is the page quiet again? */
import { assign, boxOf, cut, fold, is, isLive, kindOf, matches, now, parentOf, tagOf, textOf } from './dom.js';
import { frame, isSeen, pause } from './hit.js';
import { guard } from './prepare.js';
import { introduce } from './refs.js';
import { snapshot } from './snapshot.js';
import { isUnseen } from './style.js';
import { newTurn } from './turn.js';

/** What the page has done since the action was prepared. */
let watched = { _stop() {} };
/** Requests in flight, as far as somebody outside tells. */
export const net = { pending: 0 };

export const watch = (el) => {
  watched._stop();
  const state = (watched = { _at: now(), _changed: new Set(), _said: [], _types: '' });
  const observer = new MutationObserver((records) => {
    state._at = now();
    for (const { type, target, addedNodes } of records) {
      if (state._changed.size > 500) break;
      addedNodes.forEach((node) => state._changed.add(node));
      if (type == 'characterData' || (type == 'attributes' && matches(target, '[role=alert],[role=status],[role=dialog],[role=alertdialog],[aria-live],dialog,output'))) state._changed.add(target);
    }
  });
  for (const root of [document, el ? el.getRootNode() : document]) observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
  const listener = ({ type, target }) => {
    state._types += ' ' + type;
    if (type == 'invalid') state._said.push(target.validationMessage);
    if (is(type, 'beforeunload pagehide')) state._left = 1;
  };
  const each = (way) => ['beforeunload', 'pagehide', 'invalid', 'input', 'keyup'].forEach((type) => window[way + 'EventListener'](type, listener, true));
  each('add');
  state._stop = () => {
    observer.disconnect();
    each('remove');
  };
};

export const settle = async (options) => {
  const o = assign({ settleMs: 1e3, quietMs: 20 }, options), start = now(), late = () => now() - start >= o.settleMs;
  if (!watched._types && watched._types != '') watch();
  const state = watched;
  while (!late() && !state._left && o.expect && !(o.expect == 'click' ? guard._done : is(o.expect == 'key' ? 'keyup' : o.expect, state._types))) await frame();
  await frame();
  await frame();
  while (!late() && !state._left && (net.pending > 0 || now() - state._at < o.quietMs)) await pause(5);
  guard._disarm();
  state._stop();
  watched = { _stop() {} };
  newTurn();
  // What can be read now and could not before.
  const texts = state._said;
  for (let node of state._changed) {
    if (kindOf(node) == 3) node = parentOf(node);
    if (!node || texts.length > 7 || kindOf(node) != 1 || !isLive(node) || is(tagOf(node), 'script style option') || !isSeen(node) || isUnseen(node, boxOf(node))) continue;
    const words = cut(fold(textOf(node).slice(0, 2e3)), 200);
    if (words && !texts.some((text) => text.includes(words))) texts.push(words);
  }
  const active = document.activeElement, reason = state._left ? 'navigation' : late() ? 'deadline' : 'quiet';
  return {
    reason,
    waitedMs: Math.round(now() - start),
    hit: guard._hit || false,
    texts,
    focus: active && active != document.body ? introduce(active) : undefined,
    snapshot: o.snapshot && !state._left ? snapshot(o.snapshot) : undefined,
  };
};
