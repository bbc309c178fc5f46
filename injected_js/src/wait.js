/** Waiting inside the page for something to be there, or to be gone. */
import { fold, findAll, kidsOf, kindOf } from './dom.js';
import { frame, isSeen } from './hit.js';
import { introduce, knownName, resolve } from './refs.js';
import { roleOf } from './roles.js';
import { isHidden } from './style.js';
import { newTurn } from './turn.js';

const glob = (pattern) => new RegExp('^' + pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*?|\?/g, (it) => (it == '?' ? '.' : it[1] ? '.*' : '[^/]*')) + '$');

const everything = () => {
  const out = [], todo = [document.documentElement];
  while (todo.length) {
    const el = todo.pop();
    out.push(el);
    for (const kid of kidsOf(el)) if (kindOf(kid) == 1) todo.push(kid);
  }
  return out;
};

/** What is asked for, as it is now: true, an element, or nothing. */
const look = (what) => {
  const words = what.name && fold(what.name).toLowerCase();
  if (what.fn) return what.fn();
  if (what.url) return glob(what.url).test(location.href);
  if (what.ref) return !resolve(what.ref).error && resolve(what.ref).el;
  if (what.text) return fold(document.body ? document.body.innerText : '').includes(fold(what.text));
  if (what.selector) return findAll(document, what.selector).find(isSeen);
  return everything().find((el) => roleOf(el, 1) == what.role && isSeen(el) && !isHidden(el) && (!words || knownName(el, what.role).toLowerCase().includes(words)));
};

export const waitFor = async (condition, timeoutMs) => {
  const start = performance.now(), { gone } = condition;
  const what = gone && gone !== true ? (typeof gone == 'string' ? { selector: gone } : gone) : condition;
  let dirty = true, lastSeen = '', found;
  const observer = new MutationObserver(() => (dirty = true));
  observer.observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  try {
    for (let turns = 0; ; turns++) {
      if (dirty || turns % 6 == 0) {
        dirty = false;
        newTurn();
        found = await look(what);
        lastSeen = found ? 'there' : 'not there';
        if (!found == !!gone) {
          const out = { ok: true, waitedMs: Math.round(performance.now() - start), lastSeen };
          if (found && found.nodeType) out.ref = introduce(found).ref;
          return out;
        }
      }
      if (performance.now() - start >= timeoutMs) return { ok: false, waitedMs: Math.round(performance.now() - start), lastSeen };
      await frame();
    }
  } catch (e) {
    return { ok: false, waitedMs: 0, lastSeen: '', error: { code: 'bad_usage', message: '' + e } };
  } finally {
    observer.disconnect();
  }
};
