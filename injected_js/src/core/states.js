/** The attributes and states that a snapshot carries. */
import { aria, attr, cut, fold, matches, textOf } from './dom.js';

/** How HTML says each state; ARIA says all of them. */
export const STATES = { selected: 'option:checked', expanded: 'details[open]>summary', disabled: ':disabled,[aria-disabled=true] *', required: ':required', readonly: '[readonly]', pressed: '_', current: '_', invalid: '_' };

let any = '_';
for (const key in STATES) any += `,[aria-${key}],` + (STATES[key] += `,[aria-${key}=true]`);

export const foldLabels = (options) => [...options].map((it) => fold(it.label));

/** What a list has chosen. @type {(el: Element) => string[] | undefined} */
export const valuesOf = (el) => el.selectedOptions && foldLabels(el.selectedOptions);

/** What a control holds, or null: a password is never read, and what is hidden, a file, an image or a box has none. @type {(el: Element) => string | null} */
export const valueOf = (el) =>
  el.selectedOptions ? valuesOf(el).join(', ')
  : matches(el, 'input,textarea') ? (/pass|hid|fil|ima|kbox|dio/.test(el.type) ? null : el.value)
  : el.isContentEditable || /(xt|ch|o)box/.test(attr(el, 'role')) ? fold(textOf(el)) : null;

/** "mixed", true or false; null for what cannot be checked. */
export const checkedOf = (el, told = aria(el, 'checked')) => (el.indeterminate || told == 'mixed' ? 'mixed' : /kbox|dio/.test(el.type) ? el.checked : told ? told == 'true' : null);

/** @type {(el: Element, role: string, maxLen: number, lean: boolean) => Record<string, any> | undefined} */
export const attrsOf = (el, role, maxLen, lean, out = {}, put = (key, value) => value && (out[key] = value)) => {
  for (const key of ('href name type value placeholder' + (lean ? '' : ' src alt title action method')).split(' ')) put(key, cut(key == 'value' ? valueOf(el) || '' : attr(el, key), maxLen));
  if (matches(el, any)) for (const key in STATES) put(key, matches(el, STATES[key]) || aria(el, key));
  put('checked', checkedOf(el));
  put('level', aria(el, 'level'));
  put('valuenow', aria(el, 'valuenow') || (/ider|ssbar|meter/.test(role) && el.value));
  for (const _ in out) return out;
};
