/** Reading one element by its ref. */
import { attr, attributeNames, boxOf, findAll, textOf, words } from '../core/dom.js';
import { valueOf } from '../core/states.js';

/** `seenText`: the text of an element, where another script says what a person sees of it. */
export const query = (ref, kind, limit = 2e3, seenText = /** @type {any} */ (0)) => {
  const el = __agentBrowser.element(ref), isSecret = (it) => it.type == 'password';
  if (!(el instanceof Element)) return el;
  const out = {
    text: () => (!IS_STANDALONE && seenText ? seenText(el) : /** @type {any} */ (el).innerText || textOf(el)),
    // A password's value is never reported, not even as an attribute.
    html: () => [el, ...findAll(el, '*')].reduce((html, it) => (isSecret(it) ? html.replace(it.outerHTML, '<input type=password>') : html), el.outerHTML),
    value: () => valueOf(el),
    attrs: () => attributeNames(el).reduce((all, name) => ((all[name] = isSecret(el) && name == 'value' ? '' : attr(el, name).slice(0, limit)), all), {}),
    computed_styles: () => words('display color fontSize backgroundColor visibility').reduce((all, name) => ((all[name] = getComputedStyle(el)[name]), all), {}),
    box: () => boxOf(el).toJSON(),
  }[kind]();
  const truncated = out && out.length > limit;
  return { value: truncated ? out.slice(0, limit) + '...[truncated]' : out, truncated };
};
