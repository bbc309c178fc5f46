/** Reading one element by its ref. */
import { boxOf, textOf } from './dom.js';
import { failure, resolve } from './refs.js';
import { valueOf } from './states.js';

const pick = (from, keys) => {
  const out = {};
  for (const key of keys.split(' ')) out[key] = from[key];
  return out;
};

const KINDS = {
  text: (el) => el.innerText || textOf(el),
  html: (el) => el.outerHTML,
  value: valueOf,
  attrs(el, limit) {
    const out = {};
    for (const { name, value } of [...el.attributes]) if (el.type != 'password' || name != 'value') out[name] = value.slice(0, limit);
    return out;
  },
  computed_styles: (el) => pick(getComputedStyle(el), 'display color fontSize backgroundColor visibility'),
  box: (el) => Object.values(pick(boxOf(el), 'left top width height')),
};

export const query = (ref, kind, limit = 2e3) => {
  const { el, error } = resolve(ref);
  if (error) return { error };
  if (!KINDS[kind]) return failure('bad_usage', 'unknown kind of query');
  const value = KINDS[kind](el, limit), truncated = !!value && value.length > limit;
  return { ref, kind, value: truncated ? value.slice(0, limit) + '...[truncated]' : value, truncated };
};
