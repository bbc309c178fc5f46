/** The texts of a page with where they are drawn, for painting secrets over in screenshots. */
import { boxOf, is, kindOf, shadowOf, tagOf } from '../core/dom.js';

/**
 * A text with the boxes of its lines, each left, top, width and height in what is seen of the page. No boxes: out of
 * view, but near enough to what is in view that a secret may reach from one into the other.
 * @typedef {[string, [number, number, number, number][]]} PlacedText
 */

// Elements whose `value` is not what they show.
const VALUE_NOT_SHOWN = 'option li data param';

/** Collects texts in document order: all in view, and `reach` characters before and after each of those. */
const newRow = (reach, isEverything, spend) => {
  const view = visualViewport;
  /** @type {PlacedText[]} */
  const kept = [];
  let before = [], charsBefore = 0, reachAfter = 0;
  const keep = (text) => {
    spend(text[0].length);
    kept.push(text);
  };
  const isInView = (box) => isEverything || (box.bottom > view.offsetTop && box.top < view.offsetTop + view.height && box.right > view.offsetLeft && box.left < view.offsetLeft + view.width);
  const add = (text, boxes) => {
    const drawn = boxes.filter((box) => box.width && box.height);
    // White space without a box parts words and is kept.
    if (!text || !boxes.length || (!drawn.length && text.trim())) return;
    const seen = drawn.filter(isInView);
    if (seen.length && text.trim()) {
      before.forEach(keep);
      keep([text, seen.map((box) => [box.left - view.offsetLeft, box.top - view.offsetTop, box.width, box.height])]);
      before = [];
      charsBefore = 0;
      reachAfter = reach;
    } else if (reachAfter > 0) {
      keep([text.slice(0, reach), []]);
      reachAfter -= text.length;
    } else {
      const end = text.slice(-reach);
      before.push([end, []]);
      charsBefore += end.length;
      while (charsBefore - before[0][0].length >= reach) charsBefore -= before.shift()[0].length;
    }
  };
  return { kept, add };
};

/**
 * Texts and values of fields through open shadow roots, each in a row of its own: [width of the view, texts, values];
 * null where they are more than `maxChars`.
 * @type {(maxChars: number, reach: number, isEverything: boolean) => [number, PlacedText[], PlacedText[]] | null}
 */
export const visibleTexts = (maxChars, reach, isEverything) => {
  let room = maxChars;
  const spend = (chars) => (room -= chars);
  const texts = newRow(reach, isEverything, spend), values = newRow(reach, isEverything, spend);
  const walk = (root) => {
    for (const node of root.childNodes) {
      if (room < 0) return;
      if (kindOf(node) == 3) {
        const lines = document.createRange();
        lines.selectNodeContents(node);
        texts.add(node.data, [...lines.getClientRects()]);
      } else if (kindOf(node) == 1) {
        if (typeof node.value == 'string' && node.type != 'password' && !is(tagOf(node), VALUE_NOT_SHOWN))
          values.add(node.selectedOptions ? [...node.selectedOptions].map((it) => it.text).join(' ') : node.value, [boxOf(node)]);
        if (shadowOf(node)) walk(shadowOf(node));
        walk(node);
      }
    }
  };
  walk(document);
  return room < 0 ? null : [visualViewport.width, texts.kept, values.kept];
};
