/** What one call into the script has learnt about the page; nothing in it outlives the call. */
export const turn = {};

/** The document, looked up in each call: a window that leaves its first, empty document for one of its origin stays. */
export let doc = document;

export const newTurn = () => {
  doc = document;
  turn._facts = new Map();
  /** Texts left out because nobody can see them. */
  turn._removed = 0;
};

/** What is known of an element: its style, role, clipping box, and the words of its item. @type {(el: Element) => any} */
export const about = (el) => {
  let facts = turn._facts.get(el);
  if (!facts) turn._facts.set(el, (facts = {}));
  return facts;
};
