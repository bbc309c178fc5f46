/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM §3.5). */
import { attr, closest, findAll, flatParent, is, matches, parentOf, tagOf } from './dom.js';
import { authorName } from './names.js';
import { INTERACTIVE, ROLE_FLAGS, TAG_ROLES } from './role-table.js';
import { turn } from './turn.js';

export const isSilent = (role) => is(role, 'none presentation');

/** @type {(el: Element, lenient?: any) => string} `lenient` keeps interactive roles whose required parent is missing */
export const roleOf = (el, lenient) => {
  const roles = turn._roles;
  // A name may ask for the role it is computed for.
  if (!roles.has(el)) roles.set(el, 'generic').set(el, explicitRole(el, lenient) || implicitRole(el) || 'generic');
  return roles.get(el);
};

/** Is it below such an element? @type {(el: Element, selectors: string) => boolean} */
const inside = (el, selectors) => matches(el, selectors.replace(/,|$/g, ' *$&'));

const explicitRole = (el, lenient) =>
  attr(el, 'role')
    .toLowerCase()
    .replace(/\bdirectory\b/, 'list')
    .split(/\s+/)
    .find((role) =>
      // Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element's own role.
      isSilent(role) ? el.tabIndex < 0 && !matches(el, '[tabindex]') && !/ aria-(?!hid)/.test([' ', ...el.attributes].map((it) => it.name).join(' '))
      : is(role, 'form region') ? authorName(el)
      // Core-AAM §5.1.2: outside its required context a role is as if it had not been there.
      : /(menu|tree)item|^(option|listitem|tab)$/.test(role) && !(lenient && ROLE_FLAGS[role] & INTERACTIVE) ? inside(el, /^[mt].*item/.test(role) ? `[role^=${role.slice(0, 4)}]` : role == 'tab' ? '[role=tablist]' : '[role^=list],ul,ol')
      : role in ROLE_FLAGS || /^doc-/.test(role)
    );

const implicitRole = (el) => {
  const tag = tagOf(el), role = TAG_ROLES[tag], type = el.type, sections = 'article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]';
  const table = /^t([dhr]$|body|foot|head)/.test(tag) && closest(el, 'table'), kind = table && roleOf(table), scope = attr(el, 'scope');
  return (
    isSilent(kind) ? 0
    : is(tag, 'a area') ? matches(el, '[*|href]') && 'link'
    : tag == 'summary' ? matches(el, 'details>summary:first-of-type') && 'button'
    : tag == 'aside' ? (!inside(el, sections) || authorName(el)) && 'complementary'
    : is(tag, 'header footer') ? (inside(el, sections + ',main,[role=main]') ? 'section' + tag : tag == 'header' ? 'banner' : 'contentinfo')
    : is(tag, 'section form') ? authorName(el) && (tag == 'form' ? tag : 'region')
    : tag == 'img' ? (matches(el, '[alt=""]') && !authorName(el, 1) ? 'none' : 'image')
    : tag == 'input' ? (matches(el, '[type=checkbox][switch]') ? 'switch' : matches(el, '[list]') && is(type, 'text search tel url email') ? 'combobox' : TAG_ROLES['@' + type] || 'textbox')
    : tag == 'select' ? (el.multiple || el.size > 1 ? 'listbox' : 'combobox')
    : tag == 'li' ? roleOf(flatParent(el) || el) == 'list' && 'listitem'
    : tag == 'td' ? (/grid/.test(kind) ? 'gridcell' : 'cell')
    : tag == 'th' ? (/^row/.test(scope) || (!scope && findAll(parentOf(el), 'td')[0]) ? 'rowheader' : 'columnheader')
    : role
  );
};
