/** The attributes and states that a snapshot carries. */
import { attr, cut, fold, matches, tagOf, textOf } from './dom.js';

const tri = (value) => (value == 'mixed' ? value : value == 'true');

export const isDisabled = (el) => {
  if (matches(el, ':disabled')) return true;
  for (; el; el = el.parentElement) if (attr(el, 'aria-disabled') == 'true') return true;
  return false;
};

/** What a control holds, or null. A password is never read. */
export const valueOf = (el) => {
  const tag = tagOf(el), type = el.type;
  if (tag == 'select') return [...el.selectedOptions].map((option) => fold(textOf(option))).join(', ');
  if (tag == 'textarea') return el.value;
  if (tag == 'input') return /^(password|hidden|file|image|checkbox|radio)$/.test(type) ? null : el.value;
  return el.isContentEditable || /^(textbox|searchbox|combobox|spinbutton)$/.test(attr(el, 'role')) ? fold(textOf(el)) : null;
};

/** "mixed", true or false; null for what cannot be checked. */
export const checkedOf = (el) => {
  if (tagOf(el) == 'input' && /^(checkbox|radio)$/.test(el.type)) return el.indeterminate ? 'mixed' : el.checked;
  const aria = attr(el, 'aria-checked');
  return aria ? tri(aria) : /^(checkbox|radio|switch|menuitemcheckbox|menuitemradio)$/.test(attr(el, 'role')) ? false : null;
};

/** @type {(el: Element, role: string, name: string, o: {maxAttrValueLen: number, interactiveOnly: boolean}) => Record<string, any>} */
export const attrsOf = (el, role, name, o) => {
  const out = {}, tag = tagOf(el);
  const put = (key, value) => {
    if (value != null && value !== '' && value !== false) out[key] = typeof value == 'string' ? cut(value, o.maxAttrValueLen) : value;
  };
  for (const key of ['href', 'name', 'type', 'placeholder', 'alt', 'title', 'src', 'action', 'method']) {
    const value = attr(el, key);
    if (value && (key < 'p' ? key == 'href' || key == 'name' || fold(value) != name || key == 'method' || key == 'action' : key == 'type' ? tag != 'li' && tag != 'ol' : key == 'src' ? !o.interactiveOnly : fold(value) != name || key == 'placeholder'))
      put(key, /^data:/.test(value) ? 'data:' : value);
  }
  const value = valueOf(el);
  if (value != null && fold(value) != name) put('value', value);
  put('checked', checkedOf(el));
  put('selected', tag == 'option' ? el.selected : attr(el, 'aria-selected') == 'true');
  put('disabled', isDisabled(el));
  put('required', !!el.required || attr(el, 'aria-required') == 'true');
  put('readonly', (!!el.readOnly && tag != 'select') || attr(el, 'aria-readonly') == 'true');
  for (const key of ['expanded', 'pressed']) {
    const state = attr(el, 'aria-' + key);
    if (state && state != 'undefined') out[key] = tri(state);
  }
  if (tag == 'summary') out.expanded = !!el.parentNode.open;
  for (const key of ['current', 'invalid']) {
    const state = attr(el, 'aria-' + key);
    if (state && state != 'false') out[key] = state == 'true' || state;
  }
  if (role == 'heading' || attr(el, 'aria-level')) put('level', +(attr(el, 'aria-level') || tag[1]) || 2);
  if (/^(slider|spinbutton|progressbar|meter|scrollbar)$/.test(role)) {
    const now = attr(el, 'aria-valuenow') || (tag == 'progress' && attr(el, 'value') == null ? null : el.value);
    if (now != null && now !== '') out.valuenow = +now;
  }
  return out;
};
