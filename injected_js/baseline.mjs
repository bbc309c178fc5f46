/** What the built script must not contain: WebViews back to Chromium 74 run it. */

/** Newer than Chromium 74, with the version that brought it. */
const NEWER = {
  '\\?\\.[a-zA-Z_$[(]': 'optional chaining (80)',
  '\\?\\?': 'nullish coalescing (80)',
  '\\.\\.\\.[a-zA-Z_$]+\\s*\\}': 'object spread (es2018)',
  '\\bfor await\\b': 'for await (es2018)',
  '\\.replaceAll\\(': 'String.replaceAll (85)',
  '[^.]\\.at\\(': 'Array.at (92)',
  '\\.flatMap\\(|\\.flat\\(': 'Array.flat (69, es2019)',
  '\\.matchAll\\(': 'String.matchAll (73, es2020)',
  '\\bBigInt\\b|\\d+n\\b': 'BigInt',
  'Promise\\.(allSettled|any)': 'Promise.allSettled (76), any (85)',
  'Object\\.(fromEntries|groupBy|hasOwn)': 'Object.fromEntries (73), hasOwn (93)',
  'structuredClone': 'structuredClone (98)',
  '\\.replaceChildren\\(': 'replaceChildren (86)',
  '\\.requestSubmit\\(': 'requestSubmit (76)',
  '\\.checkVisibility\\(': 'checkVisibility (105)',
  '\\.getAnimations\\(': 'getAnimations (84)',
  '\\.findLast': 'findLast (97)',
  '\\.toSorted\\(|\\.toReversed\\(|\\.with\\(': 'change array by copy (110)',
  ':has\\(|:is\\(|:where\\(|:user-invalid|:modal': 'selectors of 88 and later',
  '\\(\\?<[=!a-zA-Z]': 'lookbehind and named groups (es2018)',
};

/** Helpers that esbuild adds when it has to lower syntax: their presence means the source uses something newer. */
const HELPERS = /__(async|spreadValues|spreadProps|objRest|yieldStar|publicField|forAwait)\b|\bObject\.assign\([a-z]+=>/;

export const checkSource = (source) => {
  const problems = [];
  // `!el.method || el.method()` asks first.
  const text = source.replace(/!([\w$]+)\.(\w+)\|\|\1\.\2\(/g, '');
  for (const [pattern, what] of Object.entries(NEWER)) {
    const found = new RegExp(pattern).exec(text);
    if (found) problems.push(`${what}: …${text.slice(Math.max(0, found.index - 30), found.index + 40)}…`);
  }
  if (HELPERS.test(text)) problems.push('esbuild added a helper: the source uses syntax newer than ES2017');
  if (/\bWeakRef\b/.test(text.replace(/(typeof WeakRef[^:]+|self\.WeakRef)\?new WeakRef\(/g, ''))) problems.push('WeakRef without a test for it');
  return problems;
};

/** In JavaScript that stands in Python strings only methods can be told from Python; `(!el.it||el.it())` asks first. */
const METHODS = /(!\s*[\w$]+)?\.(replaceAll|replaceChildren|requestSubmit|checkVisibility|getAnimations|findLast|findLastIndex|toSorted|toReversed|toSpliced|allSettled|groupBy|hasOwn)\b|\bstructuredClone\b/g;

export const checkEmbedded = (text) => {
  const asked = new Set(), problems = [];
  for (const [found, test, method] of text.matchAll(METHODS))
    if (test) asked.add(method);
    else if (!asked.has(method)) problems.push(`${found} is newer than Chromium 74`);
  return problems;
};
