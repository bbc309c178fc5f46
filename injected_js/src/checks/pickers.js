/** What no waiting makes possible: controls that open a dialog, controls of another kind, values that do not fit. */
import { attr, flatParent, is, isField, low, matches, tagOf } from '../core/dom.js';
import { foldLabels } from '../core/states.js';

/**
 * The control that a tap or key on this node asks for its dialog, as far as it can open one: a select itself; date, time
 * and colour inputs by their labels too, because those pass clicks on, and a select opens by mousedown only.
 */
export const pickerAt = (node) => {
  for (let at = node, tag, on; at; at = flatParent(at)) {
    tag = tagOf(at);
    on = (tag == 'label' && at.control) || at;
    if (
      (tag == 'select' || (tagOf(on) == 'input' && is(on.type, 'date datetime-local month week time color') && (on.type == 'color' || !on.readOnly))) &&
      !matches(on, ':disabled')
    )
      return on;
    // A label passes nothing on of what has a use of its own.
    if (is(tag, 'a button input textarea')) return;
  }
};

/** Does what stands for a dialog open it at this key (Blink, MenuListSelectType, KeyboardClickableInputTypeView)? */
export const opensAt = ({ key, altKey }) => /^( |Enter|F4)$/.test(key) || (altKey && /Arrow(Up|Down)/.test(key));

const kindOf = (el) => (tagOf(el) == 'input' ? el.type : tagOf(el));

/** Why this action is refused at once; `kind` of control tells what does it instead, for the one with this `ref`. */
export const refusalOf = (el, action, picker) =>
  picker ? { code: 'unsupported', kind: kindOf(picker), ref: __agentBrowser.refOf(picker)[0] }
  : is(action, 'fill type clear') && is(kindOf(el), 'checkbox radio file button submit reset image select') ? { code: 'not_editable', kind: kindOf(el) }
  : is(action, 'fill type clear') && !isField(el) && !el.isContentEditable && !is(attr(el, 'role'), 'textbox searchbox combobox spinbutton') ? { code: 'not_editable' }
  : is(action, 'click double_click long_press') && tagOf(el) == 'option' && el.closest('select') && !el.getClientRects()[0] ? { code: 'unsupported', kind: 'option', ref: __agentBrowser.refOf(el.closest('select'))[0] }
  : undefined;

/** Why these parameters are refused that the action itself would take: what a person could not type or choose. */
export const refuse = (el, action, params) => {
  const { value, values } = params, { type, maxLength } = el, options = [...(el.options || [])];
  if (is(action, 'fill') && maxLength >= 0 && value.length > maxLength && is(type, 'text search url tel email password textarea')) return { code: 'invalid_value', message: `takes at most ${maxLength} characters, and these are ${value.length}` };
  // "6.0" is the number that the control writes as "6".
  if (type == 'range' && value && isFinite(value)) params.value = '' + +value;
  if (action != 'select' || tagOf(el) != 'select') return;
  if (values[1] != null && !el.multiple) return { code: 'invalid_value', message: 'takes one option' };
  // The options of a disabled group are disabled too.
  const want = values.find((want) => !options.some((it) => !matches(it, ':disabled') && (it.value == want || low(it.label) == low(want))));
  if (want != null) return { code: 'no_such_option', want, options: foldLabels(options) };
};
