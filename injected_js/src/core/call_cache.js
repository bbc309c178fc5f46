/** What one call into the script has learnt about the page. Nothing of it outlives the call. */

/** @type {Map<Node, any[]>} answers by node, and within a node by question */
let answers;
let questions = 0;

/** What one call counts: texts left out because a person cannot see them. */
export const counts = { _hiddenTexts: 0 };

/** The document, looked up in each call: a window that leaves its first, empty document for one of its origin stays. */
export let doc = document;

/** Begins or ends a call: forgets what was learnt, so that nothing of the page is held on to. */
export const newCall = () => {
  doc = document;
  answers = new Map();
  counts._hiddenTexts = 0;
};

/**
 * Caches the answer to a question about a node for the rest of the call: the page does not change while a call lasts.
 *
 * While the answer is being computed the question has the answer `provisional`, which ends recursion.
 * @template T
 * @param {(node: any) => T} ask
 * @param {T} [provisional]
 * @returns {(node: any) => T}
 */
export const once = (ask, provisional, question = questions++) => (node) => {
  let known = answers.get(node);
  if (!known) answers.set(node, (known = []));
  if (known[question] == null) {
    known[question] = provisional;
    known[question] = ask(node);
  }
  return known[question];
};
