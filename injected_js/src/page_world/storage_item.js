/* All items of a storage, or the item of a key, which a value sets first. Runs in the main world. */
/** @type {(given: ['local' | 'session', string | null, string | null]) => Record<string, string> | string | null} */
(([area, key, value]) => {
  const store = area == 'local' ? localStorage : sessionStorage;
  if (key === null) return Object.assign({}, store);
  if (value !== null) store.setItem(key, value);
  return store.getItem(key);
})
