/** How functions become the API of a world. */
import { newCall } from './call_cache.js';

/** Adds them to the world's API, making one where there is none; what is there already stays. */
export const install = (functions) => {
  const api = (self.__agentBrowser = self.__agentBrowser || {});
  for (const name in functions)
    api[name] =
      api[name] ||
      ((...args) => {
        try {
          newCall();
          return functions[name](...args);
        } catch (e) {
          // A page's fault is an answer, not an exception.
          return { error: { code: 'script_failed', message: '' + e } };
        } finally {
          // Nothing of the page is held on to.
          newCall();
        }
      });
  return api;
};
