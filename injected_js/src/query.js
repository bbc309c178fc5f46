/** Reading one element by its ref. */
import { boxOf, textOf } from './dom.js';
import { failure, resolve } from './refs.js';
import { valueOf } from './states.js';

const pick = (from, keys) => {
  const out = {};
  for (const key of keys.split(' ')) out[key] = from[key];
  return out;
};

export const query = (ref, kind, limit = 2e3) => {
  const { el, error } = resolve(ref), attrs = {};
  if (error) return { error };
  for (const { name, value } of [...el.attributes]) if (el.type != 'password' || name != 'value') attrs[name] = value.slice(0, limit);
  const read = {
    text: () => el.innerText || textOf(el),
    html: () => el.outerHTML,
    value: () => valueOf(el),
    attrs: () => attrs,
    computed_styles: () => pick(getComputedStyle(el), 'display color fontSize backgroundColor visibility'),
    box: () => pick(boxOf(el), 'left top width height'),
  }[kind];
  if (!read) return failure('bad_usage', 'unknown kind of query');
  const value = read(), truncated = value && value.length > limit;
  return { ref, kind, value: truncated ? value.slice(0, limit) + '...[truncated]' : value, truncated: !!truncated };
};
