/** Waiting inside the page for something to be there, or to be gone. */
import { assign, doc, findAll, fold, kidsOf, kindOf, low, now } from './dom.js';
import { isSeen, pause } from './hit.js';
import { identify, introduce, resolve } from './refs.js';
import { roleOf } from './roles.js';
import { observe } from './settle.js';
import { isHidden } from './style.js';
import { newTurn } from './turn.js';

/** What is asked for, as it is now: an element, true, or nothing. */
const look = ({ fn, url, ref, text, selector, role, name = '' }) => {
  const root = doc.documentElement, todo = [root];
  if (fn) return fn();
  if (url) return new RegExp('^' + url.replace(/[^*\w]/g, '\\$&').replace(/\*+/g, '.*') + '$').test(location.href);
  if (ref) return resolve(ref).el;
  if (text) return fold(root.innerText).includes(fold(text));
  if (selector) return findAll(root, selector).find((it) => isSeen(it));
  for (const el of todo) {
    if (roleOf(el, 1) == role && isSeen(el) && !isHidden(el) && low(identify(el).name).includes(low(name))) return el;
    todo.push(...kidsOf(el).filter((kid) => kindOf(kid) == 1));
  }
};

export const waitFor = async (condition, timeoutMs) => {
  const start = now(), { gone } = condition, what = gone && gone !== true ? (gone.trim ? { selector: gone } : gone) : condition;
  let dirty = 1, turns = 0, found;
  const stop = observe(() => (dirty = 1));
  try {
    for (;;) {
      if (dirty || !(turns++ % 6)) {
        dirty = 0;
        newTurn();
        found = await look(what);
      }
      const ok = !found == !!gone, waitedMs = now() - start;
      if (ok || waitedMs >= timeoutMs) return assign({ ok, waitedMs, lastSeen: found ? 'there' : 'not there' }, ok && found && found.nodeType && { ref: introduce(found) });
      await pause();
    }
  } finally {
    stop();
  }
};
