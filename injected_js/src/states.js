/** The attributes and states that a snapshot carries. */
import { aria, attr, cut, fold, is, matches, tagOf, textOf } from './dom.js';

const NATIVE = { checked: 'input:checked', selected: 'option:checked', expanded: 'details[open]>summary', disabled: ':disabled,[aria-disabled=true] *', required: ':required', readonly: '[readonly]' };
/** Is it in this state, by ARIA or by HTML? @type {(el: Element, state: string) => boolean} */
export const isIn = (el, state) => matches(el, `[aria-${state}=true],` + (NATIVE[state] || '_'));

/** What a control holds, or null. A password is never read. @type {(el: Element) => string | null} */
export const valueOf = (el) =>
  el.selectedOptions
    ? [...el.selectedOptions].map(({ label }) => fold(label)).join(', ')
    : matches(el, 'input,textarea')
      ? is(el.type, 'password hidden file image checkbox radio') ? null : el.value
      : el.isContentEditable || is(attr(el, 'role'), 'textbox searchbox combobox') ? fold(textOf(el)) : null;

/** "mixed", true or false; null for what cannot be checked. */
export const checkedOf = (el) => {
  const native = is(el.type, 'checkbox radio');
  return native && el.indeterminate || aria(el, 'checked') == 'mixed' ? 'mixed' : native ? el.checked : matches(el, '[aria-checked],[role$=checkbox],[role$=radio],[role=switch]') ? isIn(el, 'checked') : null;
};

/** @type {(el: Element, role: string, name: string, maxLen: number, lean: boolean) => Record<string, any> | undefined} */
export const attrsOf = (el, role, name, maxLen, lean) => {
  const out = {}, tag = tagOf(el), put = (key, value) => value && (out[key] = +value);
  for (const key of ('href name type value placeholder' + (lean ? '' : ' src alt title action method')).split(' ')) {
    const text = key == 'value' ? valueOf(el) : key != 'type' || tag == 'input' ? attr(el, key) : '';
    if (text && (key == 'name' || fold(text) != name)) out[key] = cut(/^data:/.test(text) ? 'data:' : text, maxLen);
  }
  for (const key of 'checked selected expanded disabled required readonly pressed current invalid'.split(' ')) {
    const told = aria(el, key), shown = (key == 'checked' && checkedOf(el)) || isIn(el, key) || (!is(told, 'true false') && told);
    if (shown) out[key] = shown;
    else if (is(key, 'expanded pressed') && (told || (tag == 'summary' && key < 'f'))) out[key] = false;
  }
  put('level', aria(el, 'level') || (role == 'heading' && tag[1]));
  put('valuenow', aria(el, 'valuenow') || (is(role, 'slider progressbar meter') && el.value));
  for (const _ in out) return out;
};
