/** The title of the main document. */
import { now } from '../core/dom.js';
import { pause } from '../checks/pause.js';

const POLL_MS = 30;

/** @type {(milestone: string) => void} */
let send = () => {};

/**
 * Reports the title through a binding at two milestones of the main document, and as "now" whenever it has changed
 * later, as `[milestone, title]`; the title is null if it is not text or has more than `maxChars`. Nothing is reported
 * where the binding has not come yet.
 *
 * A listener added just before an event comes after all listeners of the page: DOMContentLoaded passes the window on its
 * way down to the document, and the document is "complete" right before the window's `load` (HTML §13.2.7).
 * @type {(binding: string, maxChars: number) => void}
 */
export const reportTitles = (binding, maxChars) => {
  if (self !== top) return;
  let last;
  send = (milestone) => {
    const { title } = document;
    last = title;
    if (self[binding]) self[binding](JSON.stringify([milestone, typeof title == 'string' && title.length <= maxChars ? title : null]));
  };
  for (const [milestone, before] of [['DOMContentLoaded', 'DOMContentLoaded'], ['load', 'readystatechange']]) {
    let isReported = false;
    const report = (event) => {
      if (isReported || (event && !event.isTrusted)) return;
      isReported = true;
      send(milestone);
    };
    addEventListener(milestone, (event) => {
      if (!event.isTrusted) return;
      isReported = false;
      // If the page stops the event, the report follows one turn later.
      setTimeout(report);
    }, true);
    addEventListener(before, (event) => {
      if (event.isTrusted && (before == milestone || document.readyState == 'complete')) addEventListener(milestone, report);
    }, true);
  }
  const watch = () => {
    const changed = () => document.title !== last && send('now');
    if (document.head) new MutationObserver(changed).observe(document.head, { subtree: true, childList: true, characterData: true });
  };
  if (document.readyState == 'loading') addEventListener('DOMContentLoaded', watch);
  else watch();
};

/** Reports the title of a document that is older than the binding. */
export const reportTitle = () => send('now');

/** The title as soon as it is not the one that was seen, or after `waitMs`. @type {(seen: string, waitMs: number) => Promise<string>} */
export const titleAfter = async (seen, waitMs) => {
  const end = now() + waitMs;
  while (document.title === seen && now() < end) await new Promise((done) => setTimeout(done, POLL_MS));
  return document.title;
};
