/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM). */
import { attr, findAll, flatParent, kidsOf, matches, parentOf, tagOf } from './dom.js';
import { authorName } from './names.js';
import { INPUT_ROLES, PARENTS, ROLE_FLAGS, TAG_ROLES } from './role-table.js';
import { turn } from './turn.js';

const GLOBAL = /^aria-(atomic|braille|busy|controls|current|desc|details|dropeffect|flowto|grabbed|keyshortcuts|label|live|owns|relevant|roledescription)/;

/** @type {(el: Element) => boolean} */
export const isFocusable = (el) => el.tabIndex >= 0 || attr(el, 'tabindex') != null;

/** Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element. */
const isConflicted = (el) =>
  Element.prototype.getAttributeNames.call(el).some((name) => GLOBAL.test(name) && attr(el, name)) || isFocusable(el);

/** @type {(el: Element, lenient?: boolean) => string} */
export const roleOf = (el, lenient) => {
  const cache = turn._roles;
  let role = cache.get(el);
  if (role && !lenient) return role;
  cache.set(el, 'generic');
  role = explicitRole(el, lenient) || implicitRole(el);
  cache.set(el, role);
  return role;
};

const explicitRole = (el, lenient) => {
  const value = attr(el, 'role');
  if (value)
    for (let role of value.toLowerCase().split(/[ \t\r\n\f]+/)) {
      if (role == 'directory') role = 'list';
      if (!(role in ROLE_FLAGS || /^(doc|graphics)-[a-z]+$/.test(role)) || role == 'iframe') continue;
      if (/^(none|presentation)$/.test(role) && isConflicted(el)) return '';
      if (/^(form|region)$/.test(role) && !authorName(el)) continue;
      if (!(lenient && ROLE_FLAGS[role] & 1) && PARENTS[role] && !PARENTS[role].test(contextOf(el))) continue;
      return role;
    }
  return '';
};

/** The role of the nearest ancestor that has one. */
const contextOf = (el) => {
  let role = 'generic';
  while (/^(generic|none|presentation)$/.test(role) && (el = flatParent(el))) role = roleOf(el);
  return role;
};

/** Is it inside one of these, before the body? */
const isInside = (el, selector) => {
  while ((el = flatParent(el))) if (matches(el, selector)) return true;
  return false;
};

const SECTIONS = 'article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]';

const tableOf = (el) => {
  while (el && tagOf(el) != 'table') el = flatParent(el);
  return el && roleOf(el);
};

const implicitRole = (el) => {
  const tag = tagOf(el);
  let role = TAG_ROLES[tag], table;
  switch (tag) {
    case 'a':
    case 'area':
      return attr(el, 'href') != null || attr(el, 'xlink:href') != null ? 'link' : 'generic';
    case 'summary':
      role = parentOf(el);
      return role && tagOf(role) == 'details' && kidsOf(role).find((kid) => kid.localName == tag) == el ? 'button' : 'generic';
    case 'aside':
      return isInside(el, SECTIONS) && !authorName(el) ? 'generic' : 'complementary';
    case 'header':
    case 'footer':
      if (isInside(el, SECTIONS + ',main,[role=main]')) return 'section' + tag;
      return tag == 'header' ? 'banner' : 'contentinfo';
    case 'section':
      return authorName(el) ? 'region' : 'generic';
    case 'form':
      return authorName(el) ? tag : 'generic';
    case 'img':
      return attr(el, 'alt') == '' && !authorName(el, 1) ? 'none' : 'image';
    case 'input':
      role = el.type;
      if (role == 'hidden') return 'none';
      role = INPUT_ROLES[role] || 'textbox';
      if (role == 'checkbox') return attr(el, 'switch') != null ? 'switch' : attr(el, 'aria-pressed') ? 'button' : role;
      return attr(el, 'list') != null && /^(text|search|tel|url|email)$/.test(el.type) ? 'combobox' : role;
    case 'select':
      return el.multiple || el.size > 1 ? 'listbox' : 'combobox';
    case 'li':
      role = flatParent(el);
      return role && roleOf(role) == 'list' ? 'listitem' : 'generic';
    case 'tr':
    case 'thead':
    case 'tbody':
    case 'tfoot':
      return /^(none|presentation)$/.test(tableOf(el)) ? 'generic' : role;
    case 'td':
    case 'th':
      table = tableOf(el);
      if (/^(none|presentation)$/.test(table)) return 'generic';
      role = attr(el, 'scope');
      if (tag == 'th') {
        if (/^row/.test(role)) return 'rowheader';
        if (/^col/.test(role) || !el.parentNode || !findAll(el.parentNode, 'td')[0]) return 'columnheader';
        return 'rowheader';
      }
      return /grid/.test(table) ? 'gridcell' : 'cell';
  }
  if (el instanceof SVGElement && !role) {
    if (tag == 'g' || tag == 'foreignObject') return authorName(el) || kidsOf(el).some((kid) => kid.localName == 'title') ? 'graphics-object' : 'generic';
    if (/^(circle|ellipse|line|path|polygon|polyline|rect|use)$/.test(tag) && (authorName(el) || kidsOf(el).some((kid) => kid.localName == 'title'))) return 'graphics-symbol';
  }
  return role || 'generic';
};
