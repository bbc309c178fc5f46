/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM §3.5). */
import { attr, closest, findAll, flatParent, is, kindOf, matches, parentOf, tagOf } from './dom.js';
import { authorName } from './names.js';
import { INTERACTIVE, ROLE_FLAGS, TAG_ROLES } from './role-table.js';
import { turn } from './turn.js';

export const SILENT = 'none presentation';

/** @type {(el: Element, lenient?: any) => string} `lenient` keeps interactive roles whose required parent is missing */
export const roleOf = (el, lenient) => {
  const roles = turn._roles;
  // A name may ask for the role it is computed for.
  if (!roles.has(el)) roles.set(el, 'generic').set(el, explicitRole(el, lenient) || implicitRole(el));
  return roles.get(el);
};

const explicitRole = (el, lenient) =>
  attr(el, 'role')
    .toLowerCase()
    .split(/[ \t\n\f\r]+/)
    .map((role) => (role == 'directory' ? 'list' : role))
    .find((role) => {
      const parents = /^menuitem/.test(role) ? 'group menu menubar' : { listitem: 'list feed', option: 'group listbox', tab: 'tablist', treeitem: 'group tree treeitem' }[role];
      // Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element's own role.
      if (is(role, SILENT)) return !(el.tabIndex >= 0 || matches(el, '[tabindex]') || [...el.attributes].some(({ name, value }) => value && /^aria-(at|b|con|cu|de|dr|f|g|k|la|li|ow|rel|rol)/.test(name)));
      if (is(role, 'form region')) return authorName(el);
      // Core-AAM §5.1.2: outside its required context a role is as if it had not been there.
      if (parents && !(lenient && ROLE_FLAGS[role] & INTERACTIVE)) {
        let above = el;
        while ((above = flatParent(above)) && is(roleOf(above), 'generic ' + SILENT));
        return above && is(roleOf(above), parents);
      }
      return (role in ROLE_FLAGS && role != 'iframe') || /^doc-[a-z]+$/.test(role);
    });

const implicitRole = (el) => {
  const tag = tagOf(el), parent = parentOf(el), role = TAG_ROLES[tag], type = el.type, roles = 'article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]';
  const inside = (selector) => parent && kindOf(parent) == 1 && closest(parent, selector);
  const table = /^t([dhr]$|body|foot|head)/.test(tag) && inside('table'), kind = table && roleOf(table);
  return (
    is(kind, SILENT) ? 0
    : is(tag, 'a area') ? matches(el, '[*|href]') && 'link'
    : tag == 'summary' ? matches(el, 'details>summary:first-of-type') && 'button'
    : tag == 'aside' ? (!inside(roles) || authorName(el)) && 'complementary'
    : is(tag, 'header footer') ? (inside(roles + ',main,[role=main]') ? 'section' + tag : tag == 'header' ? 'banner' : 'contentinfo')
    : is(tag, 'section form') ? authorName(el) && (tag == 'form' ? tag : 'region')
    : tag == 'img' ? (matches(el, '[alt=""]') && !authorName(el, 1) ? 'none' : 'image')
    : tag == 'input' ? (matches(el, '[type=checkbox][switch]') ? 'switch' : matches(el, '[list]') && is(type, 'text search tel url email') ? 'combobox' : TAG_ROLES['@' + type] || 'textbox')
    : tag == 'select' ? (el.multiple || el.size > 1 ? 'listbox' : 'combobox')
    : tag == 'li' ? inside('*') && roleOf(flatParent(el)) == 'list' && 'listitem'
    : tag == 'td' ? (/grid/.test(kind) ? 'gridcell' : 'cell')
    : tag == 'th' ? (/^row/.test(attr(el, 'scope')) || (!attr(el, 'scope') && findAll(parent, 'td')[0]) ? 'rowheader' : 'columnheader')
    : role
  ) || 'generic';
};
