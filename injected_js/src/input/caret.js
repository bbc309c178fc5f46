/** Where typing goes on in a field, and what the field then holds. */

/** Moves the caret to the end of what is there. @type {(el: (HTMLElement & HTMLInputElement) | null) => void} */
export const caretToEnd = (el) => {
  if (!el) return;
  if (el.isContentEditable) {
    const selection = getSelection();
    selection.selectAllChildren(el);
    selection.collapseToEnd();
    return;
  }
  try {
    el.setSelectionRange(el.value.length, el.value.length);
  } catch (e) {
    // Inputs of type number, date and the like have no selection (HTML §4.10.20).
  }
};

/**
 * The text of a field; of a password only whether it is filled.
 * @type {(el: HTMLInputElement | null) => string | {filled: boolean} | null | undefined}
 */
export const typedValue = (el) => (!el ? null : el.type == 'password' ? { filled: !!el.value } : el.isContentEditable ? el.innerText : el.value);
