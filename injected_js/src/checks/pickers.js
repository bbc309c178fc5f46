/** What no waiting makes possible: controls that open a dialog, and controls of another kind. */
import { flatParent, is, matches, tagOf } from '../dom.js';

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

const kindOf = (el) => (tagOf(el) == 'input' ? el.type : tagOf(el));

/** Why this action is refused at once; `kind` of control tells what does it instead, for the one with this `ref`. */
export const refusalOf = (el, action, picker) =>
  picker ? { code: 'unsupported', kind: kindOf(picker), ref: __agentBrowser.refOf(picker)[0] }
  : is(action, 'fill type clear') && is(kindOf(el), 'checkbox radio file button submit reset image select') ? { code: 'not_editable', kind: kindOf(el) }
  : is(action, 'click double_click long_press') && tagOf(el) == 'option' && el.closest('select') && !el.getClientRects()[0] ? { code: 'unsupported', kind: 'option', ref: __agentBrowser.refOf(el.closest('select'))[0] }
  : undefined;
