/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { action } from './actions/actions.js';
import { install } from './core/api.js';
import { descriptionOf, nameOf } from './core/names.js';
import { page } from './actions/keys_and_scrolling.js';
import { query } from './core/query.js';
import { identify, introduce, resolve } from './core/refs.js';
import { roleOf } from './core/roles.js';
import { snapshot } from './core/snapshot.js';

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
}).page = page;
