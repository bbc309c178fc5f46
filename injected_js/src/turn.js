/** What one call into the script has learnt about the page; nothing in it outlives the call. */
export const turn = {};
let facts, kinds = 0;

/** The document, looked up in each call: a window that leaves its first, empty document for one of its origin stays. */
export let doc = document;

export const newTurn = () => {
  doc = document;
  facts = new Map();
  /** Texts left out because nobody can see them. */
  turn._removed = 0;
};

/**
 * A question that the page is asked once a turn per element: nothing changes while a snapshot is taken. Meanwhile, for
 * who asks again on the way to the answer, it is `first`.
 */
export const once = (ask, first, kind = kinds++) => (el) => {
  let known = facts.get(el);
  if (!known) facts.set(el, (known = []));
  if (known[kind] == null) {
    known[kind] = first;
    known[kind] = ask(el);
  }
  return known[kind];
};
