/** Reading one element by its ref. */
import { boxOf, textOf } from './dom.js';
import { failure, resolve } from './refs.js';
import { valueOf } from './states.js';
import { newTurn } from './turn.js';

export const query = (ref, kind, limit) => {
  newTurn();
  const { el, error } = resolve(ref), most = limit || 2e3, out = {};
  let value = out;
  if (error) return { error };
  if (kind == 'text') value = el.innerText == null ? textOf(el) : el.innerText;
  else if (kind == 'html') value = el.outerHTML;
  else if (kind == 'value') value = valueOf(el);
  else if (kind == 'attrs') for (const { name, value } of [...el.attributes]) out[name] = el.type == 'password' && name == 'value' ? '' : value.slice(0, most);
  else if (kind == 'computed_styles') for (const key of ['display', 'color', 'fontSize', 'backgroundColor', 'visibility']) out[key] = getComputedStyle(el)[key];
  else if (kind == 'box') {
    const { left, top, width, height } = boxOf(el);
    value = [left, top, width, height];
  } else return failure('bad_usage', 'unknown kind of query');
  const truncated = typeof value == 'string' && value.length > most;
  return { ref, kind, value: truncated ? value.slice(0, most) + '...[truncated]' : value, truncated };
};
