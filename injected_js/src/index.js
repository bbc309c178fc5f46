/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { action } from './actions.js';
import { descriptionOf, nameOf } from './names.js';
import { page } from './page.js';
import { prepare } from './prepare.js';
import { query } from './query.js';
import { failure, resolve } from './refs.js';
import { roleOf } from './roles.js';
import { net, settle } from './settle.js';
import { snapshot } from './snapshot.js';
import { newTurn } from './turn.js';
import { waitFor } from './wait.js';

/** A page's fault is an answer, not an exception. */
const wrong = (e) => failure('script_failed', '' + e);
const safe = (f) => (...args) => {
  try {
    newTurn();
    const out = f(...args);
    return out && out.catch ? out.catch(wrong) : out;
  } catch (e) {
    return wrong(e);
  }
};

if (!globalThis.__agentBrowser)
  globalThis.__agentBrowser = {
    version: 1,
    snapshot: safe(snapshot),
    prepare: safe(prepare),
    settle: safe(settle),
    action: safe(action),
    waitFor: safe(waitFor),
    query: safe(query),
    page,
    net,
    el: safe((ref) => resolve(ref).el || null),
    roleOf: safe((el) => roleOf(el)),
    nameOf: safe((el) => nameOf(el)),
    descriptionOf: safe((el) => descriptionOf(el, nameOf(el))),
  };
