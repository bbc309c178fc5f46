/* The HTML of the document as it is now, with its doctype. Runs in an isolated world. */
/** @type {() => string} */
(() => (document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') + document.documentElement.outerHTML)
