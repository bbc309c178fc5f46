/** Reading one element by its ref. */
import { boxOf } from './dom.js';
import { failure, resolve } from './refs.js';
import { valueOf } from './states.js';

const pick = (from, keys) => keys.split(' ').reduce((out, key) => ((out[key] = from[key]), out), {});

export const query = (ref, kind, limit = 2e3) => {
  const { el, error } = resolve(ref), attrs = {};
  if (error) return { error };
  for (const { name, value } of [...el.attributes]) if (el.type != 'password' || name != 'value') attrs[name] = value.slice(0, limit);
  const value = {
    text: () => el.innerText || el.textContent,
    // Serialized attributes are always in double quotes (HTML §13.3).
    html: () => el.outerHTML.replace(/<input(?=("[^"]*"|[^">])*type="password)("[^"]*"|[^">])*>/gi, '<input type=password>'),
    value: () => valueOf(el),
    attrs: () => attrs,
    computed_styles: () => pick(getComputedStyle(el), 'display color fontSize backgroundColor visibility'),
    box: () => pick(boxOf(el), 'left top width height'),
  }[kind];
  if (!value) return failure('bad_usage', kind);
  const out = value(), truncated = !!out && out.length > limit;
  return { ref, kind, value: truncated ? out.slice(0, limit) + '...[truncated]' : out, truncated };
};
