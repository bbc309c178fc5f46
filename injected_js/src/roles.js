/** The role of an element: explicit where ARIA allows it, else implicit (HTML-AAM §3.5, SVG-AAM §6). */
import { aria, attr, closest, findAll, flatParent, is, kidsOf, matches, parentOf, tagOf } from './dom.js';
import { authorName } from './names.js';
import { INTERACTIVE, ROLE_FLAGS, TAG_ROLES } from './role-table.js';
import { turn } from './turn.js';

/** Presentational roles conflict resolution, ARIA §5.3.3: a global attribute or focus keeps the element's own role. */
const isConflicted = (el) =>
  el.tabIndex >= 0 || matches(el, '[tabindex]') || [...el.attributes].some(({ name, value }) => value && /^aria-(at|b|con|cu|de|dr|f|g|k|la|li|ow|rel|rol)/.test(name));

const NOTHING = 'generic none presentation';

/** @type {(el: Element, lenient?: any) => string} `lenient` keeps interactive roles whose required parent is missing */
export const roleOf = (el, lenient) => {
  let role = turn._roles.get(el);
  if (!role) {
    turn._roles.set(el, 'generic');
    turn._roles.set(el, (role = explicitRole(el, lenient) || implicitRole(el)));
  }
  return role;
};

const explicitRole = (el, lenient) => {
  for (let role of attr(el, 'role').toLowerCase().split(/[ \t\n\f\r]+/)) {
    if (role == 'directory') role = 'list';
    const parents = /^menuitem/.test(role) ? 'group menu menubar' : { listitem: 'list feed', option: 'group listbox', tab: 'tablist', treeitem: 'group tree treeitem' }[role];
    if (!/^(doc|graphics)-[a-z]+$/.test(role) && !(role in ROLE_FLAGS && role != 'iframe')) continue;
    if (is(role, 'none presentation') && isConflicted(el)) break;
    if (is(role, 'form region') && !authorName(el)) continue;
    // Core-AAM §5.1.2: outside its required context a role is as if it had not been there.
    if (parents && !(lenient && ROLE_FLAGS[role] & INTERACTIVE)) {
      let above = el;
      while ((above = flatParent(above)) && is(roleOf(above), NOTHING));
      if (!above || !is(roleOf(above), parents)) continue;
    }
    return role;
  }
};

const implicitRole = (el) => {
  const tag = tagOf(el), type = el.type, parent = parentOf(el), sections = 'article,aside,nav,section,[role=article],[role=complementary],[role=navigation],[role=region]';
  const inside = (selector) => parent && kindIsElement(parent) && closest(parent, selector);
  let role = TAG_ROLES[tag];
  if (is(tag, 'a area')) return matches(el, '[href],[*|href]') ? 'link' : 'generic';
  if (tag == 'summary') return matches(el, 'details>summary:first-of-type') ? 'button' : 'generic';
  if (tag == 'aside') return inside(sections) && !authorName(el) ? 'generic' : 'complementary';
  if (is(tag, 'header footer')) return inside(sections + ',main,[role=main]') ? 'section' + tag : tag == 'header' ? 'banner' : 'contentinfo';
  if (is(tag, 'section form')) return !authorName(el) ? 'generic' : tag == 'form' ? tag : 'region';
  if (tag == 'img') return matches(el, '[alt=""]') && !authorName(el, 1) ? 'none' : 'image';
  if (tag == 'input') {
    if (matches(el, '[type=checkbox][switch]')) return 'switch';
    role = TAG_ROLES['@' + type] || 'textbox';
    return is(role, 'textbox searchbox') && matches(el, '[list]') && is(type, 'text search tel url email') ? 'combobox' : role;
  }
  if (tag == 'select') return matches(el, '[multiple]') || el.size > 1 ? 'listbox' : 'combobox';
  if (tag == 'li') return inside('*') && roleOf(flatParent(el)) == 'list' ? 'listitem' : 'generic';
  if (/^t([dhr]$|body|foot|head)/.test(tag)) {
    const table = inside('table'), kind = table && roleOf(table);
    if (is(kind, 'none presentation')) return 'generic';
    if (role) return role;
    if (tag == 'td') return /grid/.test(kind) ? 'gridcell' : 'cell';
    return /^row/.test(attr(el, 'scope')) || (!attr(el, 'scope') && findAll(parent, 'td')[0]) ? 'rowheader' : 'columnheader';
  }
  if (el instanceof SVGElement && !role) {
    if (tag == 'svg') return 'graphics-document';
    if (authorName(el) || kidsOf(el).some((kid) => kid.localName == 'title')) return is(tag, 'g foreignObject') ? 'graphics-object' : /^(circle|ellipse|line|path|poly.+|rect|use)$/.test(tag) ? 'graphics-symbol' : 'generic';
  }
  return role || 'generic';
};
const kindIsElement = (node) => node.nodeType == 1;
