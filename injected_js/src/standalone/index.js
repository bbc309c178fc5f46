/**
 * Replies that explain themselves, for the script in a page's own world: what Python adds where the bridge runs. It wraps
 * the functions of `index.js`, which must be there, once.
 */
import { explained } from './messages.js';
import { scrolling } from './scrolling.js';
import { completed } from './raw_snapshot.js';

const KINDS = ['text', 'html', 'value', 'attrs', 'computed_styles', 'box'];
const api = /** @type {any} */ (self).__agentBrowser;

if (!api.version) {
  const { snapshot, action, query } = api;
  Object.assign(api, {
    version: 1,
    snapshot: (options) => explained(completed(snapshot(options || {}), options || {})),
    action: (ref, name, params) => explained(action(ref, name, params), ref),
    query: (ref, kind, limit) =>
      explained(KINDS.includes(kind) ? { ...query(ref, kind, limit), ref, kind } : { error: { code: 'bad_usage', message: `there is no query "${kind}"; the kinds are ${KINDS.join(', ')}` }, ref, kind }, ref),
  });
  Object.assign(api.page, scrolling);
}
