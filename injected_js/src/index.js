/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { action } from './actions.js';
import { nameOf, descriptionOf } from './names.js';
import { page } from './page.js';
import { prepare } from './prepare.js';
import { query } from './query.js';
import { resolve } from './refs.js';
import { roleOf } from './roles.js';
import { net, settle } from './settle.js';
import { snapshot } from './snapshot.js';
import { newTurn } from './turn.js';
import { waitFor } from './wait.js';

const fresh = (read) => (el) => {
  newTurn();
  return read(el);
};

if (!globalThis.__agentBrowser)
  globalThis.__agentBrowser = {
    version: 1,
    snapshot,
    prepare,
    settle,
    action,
    waitFor,
    query,
    page,
    net,
    el: fresh((ref) => resolve(ref).el || null),
    roleOf: fresh((el) => roleOf(el)),
    nameOf: fresh((el) => nameOf(el)),
    descriptionOf: fresh((el) => descriptionOf(el)),
  };
