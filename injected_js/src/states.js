/** The attributes and states that a snapshot carries. */
import { aria, attr, cut, fold, is, matches, parentOf, tagOf, textOf } from './dom.js';

export const isDisabled = (el) => matches(el, ':disabled,[aria-disabled=true],[aria-disabled=true] *');

/** What a control holds, or null. A password is never read. @type {(el: Element) => string | null} */
export const valueOf = (el) =>
  tagOf(el) == 'select'
    ? [...el.selectedOptions].map(({ label }) => fold(label)).join(', ')
    : matches(el, 'input,textarea')
      ? is(el.type, 'password hidden file image checkbox radio') ? null : el.value
      : el.isContentEditable || is(attr(el, 'role'), 'textbox searchbox combobox spinbutton') ? fold(textOf(el)) : null;

/** "mixed", true or false; null for what cannot be checked. */
export const checkedOf = (el) => {
  const state = aria(el, 'checked');
  return matches(el, '[type=checkbox],[type=radio]') ? (el.indeterminate ? 'mixed' : el.checked)
    : state == 'mixed' ? state
    : state || /^(switch|(menuitem)?(checkbox|radio))$/.test(attr(el, 'role')) ? state == 'true' : null;
};

/** @type {(el: Element, role: string, name: string, maxLen: number, lean: boolean) => Record<string, any> | undefined} */
export const attrsOf = (el, role, name, maxLen, lean) => {
  const out = {}, tag = tagOf(el);
  for (const key of ('href name type value placeholder' + (lean ? '' : ' src alt title action method')).split(' ')) {
    const text = key == 'value' ? valueOf(el) : key != 'type' || tag == 'input' ? attr(el, key) : '';
    if (text && (key == 'name' || fold(text) != name)) out[key] = cut(/^data:/.test(text) ? 'data:' : text, maxLen);
  }
  const native = {
    checked: checkedOf(el),
    selected: tag == 'option' && el.selected,
    expanded: tag == 'summary' ? parentOf(el).open : null,
    disabled: isDisabled(el),
    required: matches(el, ':required'),
    readonly: matches(el, '[readonly]'),
    level: role == 'heading' && (+tag[1] || 2),
    valuenow: is(role, 'slider progressbar meter') && +el.value,
  };
  for (const key of 'checked selected expanded disabled required readonly pressed current invalid level valuenow'.split(' ')) {
    const state = aria(el, key), shown = !state || key == 'checked' ? native[key] : /lev|now/.test(key) ? +state : state == 'true' || (state != 'false' && state);
    if (shown || (shown === false && is(key, 'expanded pressed'))) out[key] = shown;
  }
  for (const _ in out) return out;
};
