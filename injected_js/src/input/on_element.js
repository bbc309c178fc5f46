/** The element of a ref, for functions that the bridge names. */

/** Null if it is gone or has become something else. @type {(ref: string) => any} */
export const elementOf = (ref) => {
  const el = __agentBrowser.element(ref);
  return el.nodeType ? el : null;
};

/** Calls a function of the API by its name, with the element or null. @type {(ref: string, name: string, ...args: any[]) => any} */
export const onElement = (ref, name, ...args) => __agentBrowser[name](elementOf(ref), ...args);
