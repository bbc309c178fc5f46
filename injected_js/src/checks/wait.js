/** Waiting inside the page for something to be there, or to be gone. */
import { assign, doc, findAll, fold, kidsOf, kindOf, low, now } from '../core/dom.js';
import { isSeen } from '../core/actionability.js';
import { isHidden } from '../core/visibility.js';
import { newCall } from '../core/call_cache.js';
import { pause } from './pause.js';
import { observe } from './guard.js';

/** What is asked for, as it is now: an element, true, or nothing. With `words`, those that would be compared instead. */
const look = ({ text, selector, role, name = '' }, words) => {
  const root = doc.documentElement, todo = [root], { roleOf, refOf } = __agentBrowser;
  // A document that has just come has no element yet.
  if (!root) return;
  if (text) return words ? words.push(root.innerText.slice(0, 1e6)) : fold(root.innerText).includes(fold(text));
  if (selector) return findAll(root, selector).find((it) => isSeen(it));
  for (const el of todo) {
    // The name as a snapshot has it; only what is met so far gets a ref by that.
    if (roleOf(el) == role && isSeen(el) && !isHidden(el)) {
      const said = refOf(el)[2];
      if (words ? words.push(said) > 5e3 : low(said).includes(low(name))) return el;
    }
    todo.push(...kidsOf(el).filter((kid) => kindOf(kid) == 1));
  }
};

/** The page's text or the names of a role, for who compares them when secrets are taken out. */
export const wordsFor = (condition, words = []) => (look(condition, words), words);

export const waitFor = async (condition, timeoutMs) => {
  const start = now(), { gone } = condition, what = gone ? { selector: gone } : condition;
  let dirty = 1, turns = 0, found;
  const stop = observe(() => (dirty = 1));
  try {
    for (;;) {
      if (dirty || !(turns++ % 6)) {
        dirty = 0;
        newCall();
        found = look(what);
      }
      const ok = !found == !!gone, waitedMs = now() - start;
      if (ok || waitedMs >= timeoutMs) return assign({ ok, waitedMs, lastSeen: found ? 'there' : 'not there' }, ok && found && found.nodeType && { ref: __agentBrowser.refOf(found)[0] });
      await pause();
    }
  } finally {
    stop();
  }
};
