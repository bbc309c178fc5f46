/** What a test asks of one element: `locator.inner_text()`, `expect(locator).to_have_css(…)`, and the like. */
import { boxOf, is, tagOf } from '../core/dom.js';

/** The control that a label labels, for reads of a value; else the element itself. */
const controlOf = (el) => (tagOf(el) == 'label' && el.control) || el;

const checkable = (el) => {
  const control = controlOf(el);
  if (is(tagOf(control), 'input') && is(control.type, 'checkbox radio')) return { checked: control.checked, indeterminate: control.indeterminate };
  const state = control.getAttribute('aria-checked');
  return state == null ? { error: 'not_checkable' } : { checked: state == 'true', indeterminate: state == 'mixed' };
};

/** @type {Record<string, (el: any, argument?: any) => unknown>} */
export const READS = {
  inner_text: (el) => (el.innerText == null ? el.textContent : el.innerText),
  text_content: (el) => el.textContent,
  inner_html: (el) => el.innerHTML,
  attribute: (el, name) => el.getAttribute(name),
  input_value(el) {
    const control = controlOf(el);
    if (!is(tagOf(control), 'input textarea select')) return { error: 'not_a_control' };
    return control.type == 'password' ? { error: 'password' } : { value: control.value };
  },
  options: (el) => (is(tagOf(el), 'select') ? [...el.options].map(({ value, label }) => ({ value, label })) : null),
  checked: checkable,
  bounding_box(el) {
    const { left, top, width, height } = boxOf(el);
    return el.getClientRects().length ? { x: left, y: top, width, height } : null;
  },
  css: (el, name) => getComputedStyle(el).getPropertyValue(name),
  property: (el, name) => {
    const value = el[name];
    return value === undefined ? { missing: true } : { value: JSON.parse(JSON.stringify(value === undefined ? null : value)) };
  },
  description: (el) => __agentBrowser.descriptionOf(el),
  error_message(el) {
    const ids = el.getAttribute('aria-errormessage') || '', root = el.getRootNode();
    const isInvalid = el.getAttribute('aria-invalid') && el.getAttribute('aria-invalid') != 'false';
    if (!isInvalid && !(el.validity && !el.validity.valid)) return '';
    const said = ids.split(/\s+/).map((id) => (id && root.getElementById(id) ? root.getElementById(id).textContent : '')).join(' ').trim();
    return said || (el.validity && !el.validity.valid ? el.validationMessage : '');
  },
  empty: (el) => (is(tagOf(el), 'input textarea') ? !el.value : !(el.textContent || '').trim()),
  /** The part of the element's area that is in the viewport, from 0 to 1. */
  viewport_ratio(el) {
    const { left, top, width, height } = boxOf(el);
    const wide = Math.min(left + width, innerWidth) - Math.max(left, 0), high = Math.min(top + height, innerHeight) - Math.max(top, 0);
    if (wide < 0 || high < 0 || !el.getClientRects().length) return 0;
    return width && height ? (wide * high) / (width * height) : 1;
  },
  /** The place of the window of an iframe among the frames of this window; -1 for other elements. */
  frame_index: (el) => (el.contentWindow ? [].indexOf.call(window, el.contentWindow) : -1),
};
