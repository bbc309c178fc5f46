/** The text of one element, for a reader. */
import { flatParent, hasWords, isVoid, kidsOf, kindOf, strip, tagOf, textOf } from '../core/dom.js';
import { isGone, isInkless, isInline, isUnseen, styleOf } from '../core/visibility.js';
import { isFaint } from '../reading/faint.js';

/** `innerText` (HTML §3.2.7), without what a person cannot see, as `web_read` leaves it out. */
export const seenText = (el) => {
  const stack = [el];
  let out = '', hides;
  while (stack.length) {
    const node = stack.pop(), kind = node.trim ? 0 : kindOf(node);
    if (!kind) out += node;
    else if (kind == 3) {
      if (!isInkless(flatParent(node)) && !isFaint(flatParent(node))) out += /pre/.test(styleOf(flatParent(node)).whiteSpace) ? node.data : node.data.replace(/\s+/g, ' ');
      else hides = hides || hasWords(node.data);
    } else if (kind == 1) {
      // What is not laid out, innerText leaves out by itself.
      if (isGone(node) || isUnseen(node)) hides = hides || styleOf(node).display != 'none';
      else if (!isVoid(tagOf(node))) stack.push(isInline(node) ? '' : '\n', ...kidsOf(node).reverse(), isInline(node) && tagOf(node) != 'br' ? '' : '\n');
    }
  }
  return strip(hides ? out.replace(/ *\n\s*/g, '\n').trim() : el.innerText || textOf(el));
};
