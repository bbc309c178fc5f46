/** The values of CSS counters, which no computed style has (CSS Lists 3 §4). */
import { findAll, holds, parentOf, words } from './dom.js';
import { once } from './call_cache.js';
import { generatedStyleOf, styleOf } from './visibility.js';

/**
 * What the counters in generated content show, in the order in which they are written: by element, and by "::before" or
 * "::after". One walk in the order of the document, in decimal digits.
 * @type {(root: Element) => Map<Element, Record<string, string[]>>}
 */
export const countersOf = once((root) => {
  /** Each counter's values, the innermost first, with the element whose descendants see it. */
  const scopes = {}, shown = new Map(), open = [];
  const scopesOf = (name, at) => {
    const found = (scopes[name] = scopes[name] || []);
    while (found[0] && !holds(found[0]._in, at)) found.shift();
    return found;
  };
  const count = (at, which = undefined) => {
    const style = which ? generatedStyleOf(at, which) : styleOf(at), _in = which ? at : parentOf(at), { content } = style;
    if (which && /^no/.test(content)) return;
    words('Reset Increment Set').forEach((how, i) => {
      for (const part of style['counter' + how].match(/\S+ -?\d+/g) || []) {
        const [name, number] = words(part), found = scopesOf(name, at);
        if (!found[0] || (!i && found[0]._in != _in)) found.unshift({ _in, _value: 0 });
        found[0]._value = (i == 1 && found[0]._value) + +number;
      }
    });
    if (which)
      for (const part of content.match(/counters?\([^)]*/g) || []) {
        const [, all, name, between] = part.match(/(s?)\(([^,]+)(?:, "(.*?)")?/), values = scopesOf(name, at).map((it) => it._value), of = shown.get(at) || {};
        shown.set(at, of);
        (of[which] = of[which] || []).push(all ? values.reverse().join(between) : '' + (values[0] || 0));
      }
  };
  let hidden;
  for (const at of [root].concat(findAll(root, '*'), 0)) {
    while (open[0] && !(at && holds(open[0], at))) count(open.shift(), '::after');
    if (!at || (hidden && holds(hidden, at))) continue;
    if (styleOf(at).display == 'none') hidden = at;
    else {
      count(at);
      count(at, '::before');
      open.unshift(at);
    }
  }
  return shown;
});
