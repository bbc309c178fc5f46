/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM §3.5). */
import { attr, findAll, flatParent, is, low, matches, parentOf, tagOf } from './dom.js';
import { authorName } from './names.js';
import { ROLE_TRAITS, TAG_ROLES } from './role_table.js';
import { once } from './call_cache.js';

export const isSilent = (role) => /^(none|pres)/.test(role);

/** A name may ask for the role it is computed for: generic until then. @type {(el: Element) => string} */
export const roleOf = once((el) => (attr(el, 'role') && explicitRole(el)) || implicitRole(el) || 'generic', 'generic');

const explicitRole = (el) =>
  low(attr(el, 'role'))
    .split(' ')
    .find((role) =>
      // Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element's own role.
      isSilent(role) ? el.tabIndex < 0 && !el.getAttributeNames().some((name) => /^(aria-(?!hi)|tabi)/.test(name))
      : is(role, 'form region') ? authorName(el)
      : ROLE_TRAITS[role] >= 0
    );

const SECTIONS = 'article *,aside *,nav *,section *';

const implicitRole = (
  el,
  tag = tagOf(el),
  role = TAG_ROLES[tag],
  { type } = el,
  table = /^(ce|col|row)/.test(role) && el.closest('table'),
  kind = table && roleOf(table),
  scope = attr(el, 'scope'),
) =>
  // Most elements of a page have none.
  role &&
  (isSilent(kind) ? 0
    : is(tag, 'a area') ? matches(el, '[*|href]') && role
    : tag == 'summary' ? matches(el, 'details>:first-of-type') && role
    : tag == 'aside' ? (!matches(el, SECTIONS) || authorName(el)) && role
    : /ade|foo/.test(tag) ? !matches(el, SECTIONS + ',main *') && role
    : is(tag, 'section form') ? authorName(el) && role
    : tag == 'img' ? (matches(el, '[alt=""]') && !authorName(el, 1) ? 'none' : role)
    : tag == 'input' ? (matches(el, '[list]') && /^[st]e|url|em/.test(type) ? 'combobox' : TAG_ROLES['@' + type] || role)
    : tag == 'select' ? (el.multiple || el.size > 1 ? 'listbox' : role)
    : tag == 'li' ? roleOf(flatParent(el) || el) == 'list' && role
    : tag == 'td' ? (/grid/.test(kind) ? 'gridcell' : role)
    : tag == 'th' && (/^row/.test(scope) || (!scope && findAll(parentOf(el), 'td')[0])) ? 'rowheader'
    : role);
