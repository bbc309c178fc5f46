/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM §3.5). */
import { attr, closest, findAll, flatParent, is, kindOf, matches, parentOf, tagOf } from './dom.js';
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

const inside = (el, selector) => {
  const parent = parentOf(el);
  return parent && kindOf(parent) == 1 && closest(parent, selector);
};

const explicitRole = (el, lenient) =>
  attr(el, 'role')
    .toLowerCase()
    .replace(/\bdirectory\b/, 'list')
    .split(/[ \t\n\f\r]+/)
    .find((role) => {
      const [, family] = /^(menu|tree)item|^(?:option|listitem|tab)$/.exec(role) || [0, ''];
      return (
        // Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element's own role.
        isSilent(role) ? !(el.tabIndex >= 0 || matches(el, '[tabindex]') || [...el.attributes].some(({ name, value }) => value && /^aria-(at|b|con|cu|de|dr|f|g|k|la|li|ow|rel|rol)/.test(name)))
        : is(role, 'form region') ? authorName(el)
        // Core-AAM §5.1.2: outside its required context a role is as if it had not been there.
        : family != '' && !(lenient && ROLE_FLAGS[role] & INTERACTIVE) ? inside(el, family ? `[role^=${family}]` : role == 'tab' ? '[role=tablist]' : '[role^=list],ul,ol')
        : role in ROLE_FLAGS || /^doc-[a-z]+$/.test(role)
      );
    });

const implicitRole = (el) => {
  const tag = tagOf(el), role = TAG_ROLES[tag], type = el.type, sections = 'article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]';
  const kind = /^t([dhr]$|body|foot|head)/.test(tag) && inside(el, 'table') && roleOf(inside(el, 'table')), scope = attr(el, 'scope');
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
    : tag == 'li' ? inside(el, '*') && roleOf(flatParent(el)) == 'list' && 'listitem'
    : tag == 'td' ? (/grid/.test(kind) ? 'gridcell' : 'cell')
    : tag == 'th' ? (/^row/.test(scope) || (!scope && findAll(parentOf(el), 'td')[0]) ? 'rowheader' : 'columnheader')
    : role
  );
};
