/* Focuses an element and selects its text. Runs in the main world. */
/** @type {(el: any) => void} */
((el) => {
  el.focus();
  if (el.select) el.select();
  else getSelection().selectAllChildren(el);
})
