/** What one call into the script has learnt about the page; nothing in it outlives the call. */
export const turn = {};

export const newTurn = () => {
  turn._facts = new Map();
  turn._sides = 0;
  /** Texts left out because nobody can see them. */
  turn._removed = 0;
};

/** What is known of an element: its style, box, role, clipping box, ground, and the words of its item. @type {(el: Element) => any} */
export const about = (el) => {
  let facts = turn._facts.get(el);
  if (!facts) turn._facts.set(el, (facts = {}));
  return facts;
};
