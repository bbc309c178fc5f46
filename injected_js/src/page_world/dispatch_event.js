/* Dispatches an event of the class that its type has. Runs in the main world. */
/** @type {(el: Element, given: {type: string, init: object}) => void} */
((el, { type, init }) => {
  const kinds = [
    [/^(click|dblclick|mouse|context|aux)/, MouseEvent],
    [/^key/, KeyboardEvent],
    [/^(drag|drop)/, DragEvent],
    [/^pointer/, PointerEvent],
    [/^(focus|blur)/, FocusEvent],
    [/^(before)?input/, InputEvent],
  ];
  const kind = /** @type {any} */ ((kinds.find(([pattern]) => /** @type {RegExp} */ (pattern).test(type)) || [0, Event])[1]);
  el.dispatchEvent(new kind(type, Object.assign({ bubbles: true, cancelable: true, composed: true }, init)));
})
