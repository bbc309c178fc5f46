/** What a ref means beside its element. */
import { doc, findAll, flatParent, low, tagOf, textOf } from './dom.js';
import { authorName, descriptionOf, nameOf } from './names.js';
import { isControl, roleOf } from './roles.js';
import { valueOf } from './states.js';
import { once } from './call_cache.js';
import { isAbsent, isUnseen, styleOf } from './visibility.js';

/** What an element is now: role, and the name by which it is known. @type {(el: any) => {role: string, name: string}} */
export const identify = once((el) => ({ role: roleOf(el), name: nameOf(el, 1) }));

/** Role and name, where numbers that only count do not. */
const keyOf = once((el, { role, name } = identify(el)) => role + low(name).replace(/\(\d+\+?\)|\d+(?= left)/g, '#'));

/**
 * The short rule of the script alone: role, name, and the text of the largest part of the page in which nothing else has
 * both; where that is no more than the element, of what holds them all.
 */
const read = (el) => {
  let path = el, box;
  while ((box = flatParent(path)) && box != doc.body && !findAll(box, tagOf(el)).some((it) => it != el && keyOf(it) == keyOf(el))) path = box;
  return keyOf(el) + (box && box != doc.body ? low(textOf(textOf(path) == textOf(el) ? box : path)).slice(0, 2e3) : '');
};

/** How a context is read, and whether two are the same; whether what is unseen is shown, and what makes a target. */
/** @type {any[]} */
export let rule = [read, (then, now) => then == now, (el) => 0, (el, active, kind) => kind];

/** Takes the rules that the bridge sends (checks/context.js, checks/targets.js). */
export const useContexts = (make) => {
  rule = make(once, identify, roleOf, isControl, valueOf, authorName, descriptionOf, styleOf, isUnseen, isAbsent);
};
