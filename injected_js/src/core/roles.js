/** The role of an element: explicit where ARIA allows it (WAI-ARIA 1.3 §8.1), else by nature (HTML-AAM §3.5, SVG-AAM §6). */
import { attr, attributeNames, closest, findAll, flatParent, hasWords, is, isSvg, matches, low, own, ownersOf, parentOf, tagOf, textOf, words } from './dom.js';
import { authorName } from './names.js';
import { INTERACTIVE, NEEDS_NAME, ROLE_TRAITS, SECTIONING, TABLE_PART, TAG_ROLES } from './role_table.js';
import { once } from './call_cache.js';

/** @type {(el: any) => string} while a name is computed that the role depends on, the role is generic */
export const roleOf = once((el) => explicitRole(el) || implicitRole(el) || 'generic', 'generic');
/** Is it something that is operated? */
export const isControl = (el) => ROLE_TRAITS[roleOf(el)] & INTERACTIVE;

/** Global states and properties (WAI-ARIA 1.3 §6.4), without those whose global use is deprecated and but for names, by their beginnings. */
const GLOBAL_ATTRIBUTE = /^aria-(at|b|con|cu|de|f|k|li|ow|rel|rol)/;

/**
 * Presentational roles conflict resolution (WAI-ARIA 1.3 §5.3.3) and what includes SVG elements (SVG-AAM §5.1.2): focus,
 * or a global attribute. An empty name counts as none.
 */
const isExposed = (el) => (own(el, 'tabIndex') >= 0 && !matches(el, ':disabled,a:not([*|href])')) || matches(el, '[tabindex],[contenteditable]') || attributeNames(el).some((name) => GLOBAL_ATTRIBUTE.test(name)) || authorName(el, 1);

/** Is it in something of such a role, or whose tag has this part? `isNear`: with nothing between that has a role of its own, but for groups. */
const isIn = (el, tag, isWanted, isNear = false) => {
  while ((el = flatParent(el))) {
    const role = roleOf(el);
    if ((tagOf(el).includes(tag) && role != 'none') || isWanted(role)) return true;
    if (isNear && !is(role, 'generic none group')) return;
  }
};

/**
 * A role whose required context is missing is ignored (CORE-AAM §5.4). It may be there in a
 * custom element, whose role no attribute tells (ElementInternals), or in an element that owns it (`aria-owns`). Items and
 * options belong to the nearest element with a role, as browsers have it; tabs and menu items are taken from further down.
 */
const isInContext = (el, role) => {
  const wanted = TAG_ROLES['>' + role.slice(0, 8)], isList = /^list/.test(wanted);
  // A menu bar is a menu.
  const isWanted = (role) => role.replace('bar', '') == wanted;
  return !wanted || isIn(el, '-', isWanted, isList) || ownersOf(el).some((it) => isWanted(roleOf(it)) || isIn(it, '-', isWanted, isList));
};

const explicitRole = (el) =>
  words(low(attr(el, 'role')))
    .map((token) => TAG_ROLES['=' + token] || token)
    .find((role) =>
      role == 'none' ? !isExposed(el)
      : ROLE_TRAITS[role] & NEEDS_NAME ? authorName(el)
      : ROLE_TRAITS[role] >= 0 && role != 'iframe' && isInContext(el, role)
    );

const isSectioning = (role) => ROLE_TRAITS[role] & SECTIONING;

const implicitRole = (el) => {
  const tag = tagOf(el), role = TAG_ROLES[tag], traits = ROLE_TRAITS[role], inputRole = matches(el, '[type=checkbox][switch]') ? 'switch' : TAG_ROLES['@' + el.type] || role;
  // Most elements of a page have none.
  if (!role) return;
  if (isSvg(el) && !matches(el, 'svg:not(svg svg),image,a[*|href]'))
    return (isExposed(el) || hasWords(findAll(el, ':scope>title,:scope>desc').map(textOf))) && (is(tag, 'a svg') ? 'group' : role);
  const table = traits & TABLE_PART && closest(el, 'table'), tableRole = table && roleOf(table);
  return (
    traits & TABLE_PART && !/grid|table/.test(tableRole) ? 0
    : is(tag, 'a area') ? matches(el, '[*|href]') && role
    : tag == 'summary' ? matches(el, 'details>:first-of-type') && role
    : tag == 'aside' ? (!isIn(el, 'section', isSectioning) || authorName(el)) && role
    : is(tag, 'header footer') ? (isIn(el, 'section', (role) => role == 'main' || isSectioning(role)) ? 'section' + tag : role)
    : traits & NEEDS_NAME ? authorName(el) && role
    : tag == 'img' ? (matches(el, '[alt=""]') && !isExposed(el) ? 'none' : role)
    : tag == 'input' ? (el.list && is(el.type, 'text search url tel email') ? 'combobox' : inputRole)
    : tag == 'select' ? (el.multiple || el.size > 1 ? 'listbox' : role)
    : tag == 'li' ? isInContext(el, role) && role
    : tag == 'td' ? (/grid/.test(tableRole) ? 'gridcell' : role)
    // Header of rows or of columns? (HTML §4.9.12.2.)
    : tag == 'th' && (/^row/.test(el.scope) || (!el.scope && findAll(parentOf(el), 'td')[0])) ? 'rowheader'
    : role
  );
};
