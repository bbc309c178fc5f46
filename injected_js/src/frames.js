/** Where a document stands among its parent's frames. */
export const indexOfFrame = (el) => {
  for (let i = 0; i < window.length; i++) if (window[i] == el.contentWindow) return i;
  return -1;
};

export const frameIndex = () => {
  for (let i = 0; parent != window && i < parent.length; i++) if (parent[i] == window) return i;
  return -1;
};
