/* Replaces the HTML of the document. Runs in an isolated world. */
/** @type {(html: string) => void} */
((html) => {
  document.open();
  document.write(html);
  document.close();
})
