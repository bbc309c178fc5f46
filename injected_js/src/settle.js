/** After an action: what happened, and is the page quiet again? */
import { assign, boxOf, cut, doc, fold, is, isLive, kindOf, matches, now, parentOf, round, textOf } from './dom.js';
import { isSeen, pause } from './hit.js';
import { guard, listen } from './prepare.js';
import { introduce } from './refs.js';
import { snapshot } from './snapshot.js';
import { isUnseen } from './style.js';
import { newTurn } from './turn.js';

/** What the page has done since the action was prepared. */
let state;
/** Requests in flight, as far as somebody outside tells. */
export const net = { pending: 0 };

/** Calls back on every change of the document. */
export const observe = (root, callback) => {
  const observer = new MutationObserver(callback);
  observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
  return () => observer.disconnect();
};

export const watch = (el) => {
  if (state) state._stop();
  const changed = new Set(), said = [], events = 'beforeunload pagehide invalid input keyup';
  const listener = ({ type, target }) => {
    mine._types += ' ' + type;
    if (type == 'invalid') said.push(target.validationMessage);
    if (/load|hide/.test(type)) mine._left = 1;
  };
  const stops = [doc, el && el.getRootNode()].map((root) =>
    root && observe(root, (records) => {
      mine._at = now();
      for (const { type, target, addedNodes } of records)
        if (changed.size < 500) {
          addedNodes.forEach((node) => changed.add(node));
          if (type[0] == 'c' ? type[2] == 'a' : matches(target, '[role=alert],[role=status],[role=dialog],[role=alertdialog],[aria-live],dialog')) changed.add(target);
        }
    }),
  );
  const mine = (state = { _at: 0, _types: '', _changed: changed, _said: said, _stop: () => (listen('remove', events, listener), stops.map((stop) => stop && stop())) });
  listen('add', events, listener);
};

export const settle = async ({ settleMs = 1e3, quietMs = 20, expect, snapshot: options }) => {
  const start = now(), late = () => state._left || now() - start >= settleMs;
  if (!state) watch();
  while (!late() && expect && !(expect == 'click' ? guard._done : is(expect == 'key' ? 'keyup' : expect, state._types))) await pause();
  await pause();
  await pause();
  while (!late() && (net.pending > 0 || now() - state._at < quietMs)) await pause(5);
  const { _left, _said: texts, _changed, _stop } = state, waitedMs = round(now() - start), active = doc.activeElement;
  guard._disarm();
  _stop();
  state = 0;
  newTurn();
  // What can be read now and could not before.
  for (let node of _changed) {
    if (kindOf(node) == 3) node = parentOf(node);
    if (node && kindOf(node) == 1 && isLive(node) && !texts[7] && isSeen(node) && !isUnseen(node, boxOf(node))) {
      const words = cut(fold(textOf(node).slice(0, 2e3)), 200);
      if (words && !texts.some((text) => text.includes(words))) texts.push(words);
    }
  }
  return assign(
    { reason: _left ? 'navigation' : waitedMs >= settleMs ? 'deadline' : 'quiet', waitedMs, hit: guard._hit || false, texts },
    active && active != doc.body && { focus: introduce(active) },
    options && !_left && { snapshot: snapshot(options) },
  );
};
