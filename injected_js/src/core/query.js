/** Reading one element by its ref. */
import { attr, attributeNames, boxOf, findAll, textOf, words } from './dom.js';
import { resolve } from './refs.js';
import { valueOf } from './states.js';
import { styleOf } from './visibility.js';

const pick = (from, keys) => words(keys).reduce((out, key) => ((out[key] = from[key]), out), {});

export const query = (ref, kind, limit = 2e3) => {
  const found = resolve(ref), el = found._el, isSecret = (it) => it.type == 'password';
  if (!el) return found;
  const out = {
    text: () => el.innerText || textOf(el),
    // A password's value is never told, also not as an attribute.
    html: () => [el, ...findAll(el, '*')].reduce((html, it) => (isSecret(it) ? html.replace(it.outerHTML, '<input type=password>') : html), el.outerHTML),
    value: () => valueOf(el),
    attrs: () => attributeNames(el).reduce((all, name) => ((all[name] = isSecret(el) && name == 'value' ? '' : attr(el, name).slice(0, limit)), all), {}),
    computed_styles: () => pick(styleOf(el), 'display color fontSize backgroundColor visibility'),
    box: () => pick(boxOf(el), 'left top width height'),
  }[kind]();
  const truncated = out && out.length > limit;
  return { value: truncated ? out.slice(0, limit) + '...[truncated]' : out, truncated };
};
