/** Installs the API in this world, once: a second evaluation keeps the refs. */
import { install } from './core/api.js';
import { descriptionOf, nameOf } from './core/names.js';
import { identify, useContexts } from './core/context.js';
import { introduce, resolve } from './core/refs.js';
import { roleOf } from './core/roles.js';
import { snapshot } from './core/snapshot.js';

install({
    snapshot,
    /** The element itself, for a caller that takes a handle; else the failure. */
    element: (ref, found = resolve(ref)) => found._el || found,
    /** Its ref, role and name as a snapshot has them. */
    refOf: (el, now = identify(el)) => [introduce(el), now.role, now.name],
    ...(!IS_STANDALONE && { useContexts }),
    roleOf,
    nameOf,
    descriptionOf,
});
