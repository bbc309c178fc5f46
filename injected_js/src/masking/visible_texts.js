/** The texts of a page with where they are drawn, for painting secrets over in screenshots. */
import { attr, boxOf, hasWords, is, isSvg, kindOf, shadowOf, tagOf, textOf, treeOf } from '../core/dom.js';

/**
 * A text with the boxes that it is drawn in, each left, top, width and height in what is seen of the page. No boxes: out
 * of view, but near enough to what is in view that a secret may reach from one into the other. null: drawn at places
 * that are not known.
 * @typedef {[string, [number, number, number, number][] | null]} PlacedText
 */

// Elements whose `value` is not what they show.
const VALUE_NOT_SHOWN = 'option li data param';
// Ink further away than this from its box, in px, is at a place that is not known.
const MOST_SPREAD = 300;

/** How far from its box shadows, strokes and filters of this style draw. @type {(css: string) => number} */
const spreadOf = (css) => {
  let spread = 0;
  for (const length of css.match(/[\d.]+px/g) || []) spread += parseFloat(length);
  return /url\(/.test(css) ? MOST_SPREAD + 1 : spread;
};

/** What a value of `content` draws in words: its strings, and the attributes that it names. */
const generatedBy = (content, el) =>
  content.replace(/attr\(\s*([^\s,)]+)[^)]*\)|"((\\.|[^"\\])*)"|[^"]/g, (all, name, text) => (name ? attr(el, name) : (text || '').replace(/\\(.)/g, '$1')));

/** The strings of the counter styles in these rules, and in those that they group. @type {(rules: Iterable<any>) => string} */
const symbolsIn = (rules) => {
  let found = '';
  for (const rule of rules) found += (rule.symbols || '') + (rule.additiveSymbols || '') + (rule.prefix || '') + (rule.suffix || '') + (rule.negative || '') + (rule.pad || '') + (rule.cssRules ? symbolsIn(rule.cssRules) : '');
  return found;
};

/** The strings of the counter styles of a document or shadow root; a style sheet of another origin cannot be read. */
const countersOf = (tree) => {
  let found = '';
  for (const sheet of [...tree.styleSheets, ...tree.adoptedStyleSheets])
    try {
      found += symbolsIn(sheet.cssRules);
    } catch (e) {
      continue;
    }
  return found;
};

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
  const add = (text, boxes, spread) => {
    if (spread > MOST_SPREAD) {
      if (hasWords(text)) {
        spend(text.length);
        kept.push([text, null]);
      }
      return;
    }
    const drawn = boxes.filter((box) => box.width && box.height).map((box) => new DOMRect(box.left - spread, box.top - spread, box.width + 2 * spread, box.height + 2 * spread));
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
  /** `outer`: how far the filters around draw. Texts in `root`, the element or its shadow root, have the element's style. */
  const walk = (el, root, outer) => {
    const style = getComputedStyle(el), around = outer + spreadOf(style.filter) + (/^(n|$)/.test(style.getPropertyValue('-webkit-box-reflect')) ? 0 : MOST_SPREAD + 1), spread = around + spreadOf(style.textShadow + style.webkitTextStrokeWidth);
    const lines = [...el.getClientRects()];
    const generate = (part) => {
      const { content, quotes, position, transform, textShadow } = getComputedStyle(el, part), text = (lines[0] || style.display == 'contents') && root == el && generatedBy(/-quote/.test(content) ? content + quotes : content, el);
      if (text) texts.add(text, lines, part != '::marker' && lines[0] && position == 'static' && transform == 'none' ? around + spreadOf(textShadow) : MOST_SPREAD + 1);
    };
    // Markers and hyphens are drawn somewhere about their lines.
    texts.add(generatedBy(root == el ? style.listStyleType + style.hyphenateCharacter : countersOf(root), el), [], MOST_SPREAD + 1);
    if (root == el) {
      const tag = tagOf(el), box = [boxOf(el)], used = tag == 'use' && treeOf(el).getElementById(attr(el, 'href').slice(1));
      if (typeof el.value == 'string' && !is(tag, VALUE_NOT_SHOWN)) {
        const { value } = el, shown = el.selectedOptions ? [...el.selectedOptions].map((it) => it.label).join(' ') : el.type == 'password' && value ? '' : value || attr(el, 'placeholder');
        values.add(shown, box, spread);
      }
      texts.add(is(tag, 'option optgroup') ? el.label : is(tag, 'img input') ? attr(el, 'alt') : used ? textOf(used) : '', box, spread);
    }
    generate('::marker');
    generate('::before');
    for (const node of root.childNodes) {
      if (room < 0) return;
      if (kindOf(node) == 3) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const rects = [...range.getClientRects()];
        // Glyphs of SVG may be turned and stretched.
        if (rects[0] && isSvg(el)) rects.push(boxOf(el.closest('text') || el));
        texts.add(node.data, rects, spread);
      } else if (kindOf(node) == 1) {
        if (shadowOf(node)) walk(node, shadowOf(node), around);
        walk(node, node, around);
      }
    }
    generate('::after');
  };
  texts.add(generatedBy(countersOf(document), document.documentElement), [], MOST_SPREAD + 1);
  walk(document.documentElement, document.documentElement, 0);
  return room < 0 ? null : [visualViewport.width, texts.kept, values.kept];
};
