/** The attributes and states that a snapshot carries. */
import { aria, attr, cut, fold, is, matches, own, tagOf, textOf, words } from './dom.js';
import { RANGE_VALUE, ROLE_TRAITS } from './role_table.js';

/** How HTML says each state; ARIA says all of them. */
export const STATES = { selected: 'option:checked', expanded: 'details[open]>summary', disabled: ':disabled,[aria-disabled=true],[aria-disabled=true] *', required: ':required', readonly: '[readonly]', pressed: '_', current: '_', invalid: '_', level: '_' };

const ATTRIBUTES = 'href name type value placeholder', MORE_ATTRIBUTES = ' src alt title action method';

export const foldLabels = (options) => [...options].map((it) => fold(it.label));

/** What a list has chosen. @type {(el: any) => string[] | undefined} */
export const valuesOf = (el) => (tagOf(el) == 'select' ? [...el.selectedOptions].map((it) => fold(it.label)) : undefined);

/** What a control holds, or null: a password is never read, and what is hidden, a file, an image or a box has none. @type {(el: any) => string | null} */
export const valueOf = (el) =>
  tagOf(el) == 'select' ? valuesOf(el).join(', ')
  : matches(el, 'input,textarea') ? (is(el.type, 'password hidden file image checkbox radio') ? null : el.value)
  : matches(el, ':read-write') || is(attr(el, 'role'), 'textbox searchbox combobox') ? fold(textOf(el)) : null;

/** "mixed", true or false; null for what cannot be checked. @type {(el: any) => boolean | "mixed" | null} */
export const checkedOf = (el) => {
  const said = aria(el, 'checked');
  return own(el, 'indeterminate') || said == 'mixed' ? 'mixed' : is(el.type, 'checkbox radio') ? el.checked : said ? said == 'true' : null;
};

/** @type {(el: any, role: string, maxLength: number, isLean: boolean, isVeiled: any) => Record<string, any> | undefined} */
export const attrsOf = (el, role, maxLength, isLean, isVeiled) => {
  const out = {}, put = (key, value) => value && (out[key] = value);
  for (const key of words(ATTRIBUTES + (isLean ? '' : MORE_ATTRIBUTES))) put(key, cut(key == 'value' ? valueOf(el) || '' : attr(el, key), maxLength));
  for (const key in STATES) put(key, aria(el, key) == 'true' || matches(el, STATES[key]) || aria(el, key));
  put('checked', checkedOf(el));
  put('aria-hidden', isVeiled);
  put('valuenow', aria(el, 'valuenow') || (ROLE_TRAITS[role] & RANGE_VALUE && own(el, 'value')));
  for (const _ in out) return out;
};
