/** Contents of the document's origin: its storage, and its blobs. */

/** @typedef {[string, string][]} Items */

/** A document without an origin of its own may not even name its storage. @type {(storageOf: () => Storage) => Items} */
const itemsOf = (storageOf) => {
  try {
    return Object.entries(storageOf());
  } catch (e) {
    return [];
  }
};

/** @type {() => {origin: string, local: Items, session: Items}} */
export const readStorage = () => ({ origin: self.origin, local: itemsOf(() => localStorage), session: itemsOf(() => sessionStorage) });

/** A promise, so that what the storage throws (a quota) is an error of the call. @type {(local: Items, session: Items) => Promise<void>} */
export const writeStorage = async (local, session) => {
  for (const [name, value] of local) localStorage.setItem(name, value);
  for (const [name, value] of session) sessionStorage.setItem(name, value);
};

/** Bytes of a blob, as a data: URL. @type {(url: string, from: number, to: number) => Promise<{size: number, piece: any}>} */
export const readBlob = async (url, from, to) => {
  const response = await fetch(url), blob = await response.blob(), reader = new FileReader();
  reader.readAsDataURL(blob.slice(from, to));
  await new Promise((done, failed) => {
    reader.onload = done;
    reader.onerror = failed;
  });
  return { size: blob.size, piece: reader.result };
};
