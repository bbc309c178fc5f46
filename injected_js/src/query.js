/** Reading one element by its ref. */
import { boxOf, textOf } from './dom.js';
import { failure, resolve } from './refs.js';
import { valueOf } from './states.js';
import { newTurn } from './turn.js';

const STYLES = ['display', 'color', 'fontSize', 'backgroundColor', 'visibility'];

export const query = (ref, kind, limit) => {
  newTurn();
  const found = resolve(ref);
  if (found.error) return found;
  const { el } = found;
  let out;
  if (kind == 'text') out = el.innerText == null ? textOf(el) : el.innerText;
  else if (kind == 'html') out = el.outerHTML;
  else if (kind == 'value') out = valueOf(el);
  else if (kind == 'attrs') {
    out = {};
    for (const { name, value } of [...el.attributes]) out[name] = name == 'value' && el.type == 'password' ? '' : value.slice(0, limit || 2000);
  } else if (kind == 'computed_styles') {
    const style = getComputedStyle(el);
    out = {};
    for (const key of STYLES) out[key] = style[key];
  } else if (kind == 'box') {
    const { left, top, width, height } = boxOf(el);
    out = [left, top, width, height];
  } else return failure('bad_usage', kind + ' is not a kind of query');
  const most = limit || 2000, truncated = typeof out == 'string' && out.length > most;
  return { ref, kind, value: truncated ? out.slice(0, most) + '...[truncated]' : out, truncated };
};
