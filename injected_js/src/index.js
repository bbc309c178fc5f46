/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { assign } from './dom.js';
import { action } from './actions.js';
import { descriptionOf, nameOf } from './names.js';
import { page } from './page.js';
import { prepare } from './prepare.js';
import { query } from './query.js';
import { failure, identify, introduce, resolve } from './refs.js';
import { roleOf } from './roles.js';
import { settle } from './settle.js';
import { snapshot } from './snapshot.js';
import { newTurn } from './turn.js';
import { waitFor } from './wait.js';

const api = {
  snapshot,
  prepare,
  settle,
  action,
  waitFor,
  query,
  /** The element itself, for a caller that takes a handle; else the failure. */
  element: (ref, found = resolve(ref)) => found.el || found,
  roleOf,
  nameOf,
  // For the reader: ref, role and name of each.
  refsOf: (els) =>
    els.map((el) => {
      const now = identify(el);
      return [introduce(el, now), now.role, now.name];
    }),
  descriptionOf: (el) => descriptionOf(el, nameOf(el)),
};
// A page's fault is an answer, not an exception.
const wrong = (e) => failure('script_failed', '' + e);
for (const name in api) {
  const f = api[name];
  api[name] = (...args) => {
    try {
      newTurn();
      const out = f(...args);
      return out && out.catch ? out.catch(wrong) : out;
    } catch (e) {
      return wrong(e);
    }
  };
}
if (!globalThis.__agentBrowser) globalThis.__agentBrowser = assign(api, { version: 1, page });
