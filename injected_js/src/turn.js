/** What one call into the script has learnt about the page; nothing in it outlives the call. */
export const turn = {};

export const newTurn = () => {
  turn._roles = new Map();
  turn._styles = new Map();
  turn._items = new Map();
  turn._clippers = new Map();
  /** Texts left out because nobody can see them. */
  turn._removed = 0;
};
