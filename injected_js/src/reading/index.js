/** The reader, evaluated only when a page is read: what a person sees of the document, as a bounded HTML fragment. */
import { newCall } from '../core/call_cache.js';
import { collect } from './collect.js';
import { rendered } from './rendered.js';

/**
 * @typedef {object} Options
 * @property {string} [selector] only this element, whatever it is
 * @property {string} mode main_content, article or raw
 * @property {boolean} refs mark links with the numbers that actions take
 * @property {boolean} metadata also send the JSON-LD and the canonical address
 * @property {number} limit characters of HTML at most
 * @property {number} timeBudgetMs how long the walk may take; what is left then is not looked at
 * @property {number} settleMs how long a page that shows nothing yet may take
 */
const failure = (code, message) => ({ error: { code, message } });

const read = async (options) => {
  await rendered(options.settleMs);
  newCall();
  let root = document.body || document.documentElement;
  if (options.selector) {
    try {
      root = document.querySelector(options.selector);
    } catch (e) {
      return failure('bad_usage', `${options.selector} is not a valid selector`);
    }
    if (!root) return failure('bad_usage', `${options.selector} matches nothing`);
  }
  return collect(root, options);
};

// An isolated world's global: the page does not see it.
globalThis.__reader = { read };
