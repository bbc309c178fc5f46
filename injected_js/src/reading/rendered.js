/** Waiting for a page that draws itself by script. */
import { shadowOf, textOf } from '../core/dom.js';

// A page with less than SOME may be showing that it loads; one with less than FEW is given a little longer.
const FEW = 200, SOME = 30, QUIET_MS = 150;

/** Characters that are there to be read: a page of scripts alone has none. */
const shown = () => {
  let count = 0;
  const { body } = document;
  if (!body) return 0;
  const walker = document.createTreeWalker(body, 4);
  while (count < FEW && walker.nextNode()) {
    const around = walker.currentNode.parentElement;
    if (!around || !/^(script|style|noscript|template)$/.test(around.localName)) count += textOf(walker.currentNode).trim().length;
  }
  for (const el of body.getElementsByTagName('*')) if (count >= FEW) break; else if (shadowOf(el)) count += textOf(shadowOf(el)).trim().length;
  return count;
};

/** Resolves at once where there is text or no script; else when text has come and the document is quiet, or the time is over. */
export const rendered = (settleMs) =>
  new Promise((resolve) => {
    if (!settleMs || (document.readyState == 'complete' && (shown() >= FEW || !document.scripts.length)) || (document.readyState != 'loading' && shown() >= 5 * FEW)) return resolve();
    let quiet;
    const done = () => {
      observer.disconnect();
      clearTimeout(quiet);
      clearTimeout(over);
      resolve();
    };
    const look = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => {
        const count = document.readyState == 'loading' ? 0 : shown();
        if (count >= FEW) done();
        else if (count >= SOME && document.readyState == 'complete') quiet = setTimeout(done, 2 * QUIET_MS);
      }, QUIET_MS);
    };
    const observer = new MutationObserver(look), over = setTimeout(done, settleMs);
    observer.observe(document, { childList: true, subtree: true, characterData: true });
    look();
  });
