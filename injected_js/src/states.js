/** The attributes and states that a snapshot carries. */
import { aria, attr, cut, findAll, fold, is, matches, parentOf, tagOf, textOf } from './dom.js';

export const isDisabled = (el) => matches(el, ':disabled,[aria-disabled=true],[aria-disabled=true] *');

/** What a control holds, or null. A password is never read. @type {(el: Element) => string | null} */
export const valueOf = (el) =>
  is(tagOf(el), 'select')
    ? [...el.selectedOptions].map((option) => fold(textOf(option))).join(', ')
    : matches(el, 'input,textarea')
      ? is(el.type, 'password hidden file image checkbox radio') ? null : el.value
      : el.isContentEditable || is(attr(el, 'role'), 'textbox searchbox combobox spinbutton') ? fold(textOf(el)) : null;

/** "mixed", true or false; null for what cannot be checked. */
export const checkedOf = (el) => {
  if (matches(el, '[type=checkbox],[type=radio]')) return el.indeterminate ? 'mixed' : el.checked;
  const state = aria(el, 'checked');
  return state == 'mixed' ? state : state || /^(checkbox|switch|radio|menuitem(checkbox|radio))$/.test(attr(el, 'role')) ? state == 'true' : null;
};

/** @type {(el: Element, role: string, name: string, o: {maxAttrValueLen: number, interactiveOnly: boolean}) => Record<string, any> | undefined} */
export const attrsOf = (el, role, name, o) => {
  const out = {}, tag = tagOf(el), value = valueOf(el);
  for (const key of ['href', 'name', 'type', 'value', 'placeholder'].concat(o.interactiveOnly ? [] : ['src', 'alt', 'title', 'action', 'method'])) {
    const text = key == 'value' ? value : key == 'type' && tag != 'input' ? '' : attr(el, key);
    if (text && (key == 'name' || fold(text) != name)) out[key] = cut(/^data:/.test(text) ? 'data:' : text, o.maxAttrValueLen);
  }
  const native = {
    checked: checkedOf(el),
    selected: tag == 'option' && el.selected,
    expanded: tag == 'summary' ? parentOf(el).open : null,
    disabled: isDisabled(el),
    required: matches(el, ':required'),
    readonly: matches(el, '[readonly]'),
    level: role == 'heading' && (+tag[1] || 2),
    valuenow: is(role, 'slider progressbar meter') && el.value && +el.value,
  };
  for (const key of ['checked', 'selected', 'expanded', 'disabled', 'required', 'readonly', 'pressed', 'current', 'invalid', 'level', 'valuenow']) {
    const state = aria(el, key), open = is(key, 'expanded pressed');
    const shown = !state || key == 'checked' ? native[key] : is(key, 'level valuenow') ? +state : state == 'true' || (state != 'false' && state);
    if (shown || (shown === false && open)) out[key] = shown;
  }
  for (const _ in out) return out;
};
