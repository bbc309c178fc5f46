/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { assign } from './dom.js';
import { action } from './actions.js';
import { install } from './api.js';
import { descriptionOf, nameOf } from './names.js';
import { page } from './page.js';
import { query } from './query.js';
import { identify, introduce, resolve } from './refs.js';
import { roleOf } from './roles.js';
import { snapshot } from './snapshot.js';

assign(
  install({
    snapshot,
    action,
    query,
    /** The element itself, for a caller that takes a handle; else the failure. */
    element: (ref, found = resolve(ref)) => found._el || found,
    /** Its ref, role and name as a snapshot has them. */
    refOf: (el, now = identify(el)) => [introduce(el, now), now.role, now.name],
    roleOf,
    nameOf,
    descriptionOf,
  }),
  { page },
);
