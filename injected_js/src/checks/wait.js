/** Waiting inside the page for something to be there, or to be gone. */
import { assign, doc, findAll, fold, kidsOf, kindOf, low, now } from '../core/dom.js';
import { isSeen } from '../core/actionability.js';
import { isHidden } from '../core/visibility.js';
import { newCall } from '../core/call_cache.js';
import { pause } from './pause.js';
import { observe } from './guard.js';

/** What is asked for, as it is now: an element, true, or nothing. With `texts`, adds those that would be compared to it. */
const look = ({ text, selector, role, name = '' }, texts) => {
  const root = doc.documentElement, todo = [root], { roleOf, refOf } = __agentBrowser;
  // A document that has just come has no element yet.
  if (!root) return;
  if (text) return texts ? texts.push(root.innerText.slice(0, 1e6)) : fold(root.innerText).includes(fold(text));
  if (selector) return findAll(root, selector).find((it) => isSeen(it));
  for (const el of todo) {
    // The name as a snapshot has it; only what is met so far gets a ref by that.
    if (roleOf(el) == role && isSeen(el) && !isHidden(el)) {
      const said = refOf(el)[2];
      if (texts ? texts.push(said) > 5e3 : low(said).includes(low(name))) return el;
    }
    todo.push(...kidsOf(el).filter((kid) => kindOf(kid) == 1));
  }
};

/**
 * Calls `find` when the page has changed, and now and then, until it returns something; `isLate` from the timeout on.
 * @type {(timeoutMs: number, find: (waitedMs: number, isLate: boolean) => any) => Promise<any>}
 */
const whenFound = async (timeoutMs, find) => {
  const start = now();
  let isDirty = true, turns = 0;
  const stop = observe(() => (isDirty = true));
  try {
    for (;;) {
      const waitedMs = now() - start, isLate = waitedMs >= timeoutMs;
      if (isDirty || isLate || !(turns++ % 6)) {
        isDirty = false;
        newCall();
        const found = find(waitedMs, isLate);
        if (found) return found;
      }
      await pause();
    }
  } finally {
    stop();
  }
};

/** @type {(condition: any, timeoutMs: number) => Promise<{ok: boolean, waitedMs: number, lastSeen: string, ref?: string}>} */
export const waitFor = (condition, timeoutMs) => {
  const { gone } = condition, what = gone ? { selector: gone } : condition;
  return whenFound(timeoutMs, (waitedMs, isLate) => {
    const found = look(what), ok = !found == !!gone;
    if (ok || isLate) return assign({ ok, waitedMs, lastSeen: found ? 'there' : 'not there' }, ok && found && found.nodeType && { ref: __agentBrowser.refOf(found)[0] });
  });
};

const hashOf = (text) => {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return hash;
};

/**
 * The page's text or the names of a role, for a caller that compares them with secrets taken out: when they are others
 * than those with the hash `seen`, or after `waitMs`.
 * @type {(condition: any, seen: number | null, waitMs: number) => Promise<{texts: string[], hash: number}>}
 */
export const textsFor = (condition, seen, waitMs) =>
  whenFound(waitMs, (_, isLate) => {
    const texts = [];
    look(condition, texts);
    const hash = hashOf(texts.join('\n'));
    return hash != seen || isLate ? { texts, hash } : undefined;
  });
