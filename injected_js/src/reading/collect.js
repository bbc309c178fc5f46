/**
 * The walk: the flat tree as it is laid out, without invisible parts and controls, as HTML of few attributes.
 *
 * What is text and what is noise around it is decided by one set of rules, in Python (`bridge/reading/main_content/`); here
 * goes only what needs the layout to be known.
 */
import { attr, boxOf, is, kidsOf, kindOf, matches, now, query, shadowOf, strip, tagOf, textOf } from '../core/dom.js';
import { isGone, isInkless, isOut, isUnseen, isVisible, styleOf } from '../core/visibility.js';
import { isFaint } from './faint.js';

const NEVER = 'script style template noscript head meta link object embed canvas audio video map input textarea select option datalist progress meter button svg area param source track';
const CHROME = 'nav footer,dialog,[role=navigation],[role=banner],[role=contentinfo],[role=search],[role=dialog],[role=alertdialog],[role=toolbar],[role=menu],[role=menubar]';
const KEPT = 'class id role itemprop colspan rowspan start value reversed alttext display alt width height open rel encoding';
const BLOCK = /^(block|flex|grid|list-item|flow-root|table)/;
const PLAIN = 'span font';
// Of a text: laid out and seen, laid out and not seen, not laid out.
const SEEN = 1, UNSEEN = 2, GONE = 3;
// Words in letters that take no room: tag characters, variation selectors, runs of zero-width ones.
const HIDING = /\udb40[\udc00-\udfff]|[\u200b-\u200d\u2060-\u206f\ufeff]{4}/;
const VOID = 'br hr img wbr';
const MOST_META = 100, MOST_LINKED = 10, MOST_LINKED_CHARS = 100000;

// A form's named inputs shadow its own properties.
const attributesOf = Function.call.bind(Element.prototype.__lookupGetter__('attributes'));
const hasMath = (el, tag) => tag == 'math' || query(el, 'math').length;
const quote = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
const absolute = (url, el) => {
  try {
    return new URL(url, el.baseURI).href;
  } catch (e) {
    return '';
  }
};

/** Where a picture is, or will be once its loader gets to it. */
const sourceOf = (el) => {
  const shown = el.currentSrc || '';
  if (shown && !shown.startsWith('data:')) return shown;
  for (const name of ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-url']) if (attr(el, name) && !attr(el, name).startsWith('data:')) return absolute(attr(el, name), el);
  const sets = [attr(el, 'srcset'), attr(el, 'data-srcset')];
  for (const set of sets) if (set && !set.startsWith('data:')) return absolute(set.trim().split(/[\s,]+/)[0], el);
  const plain = attr(el, 'src');
  return plain && !plain.startsWith('data:') ? absolute(plain, el) : '';
};

/** The document of a frame, where it may be looked into. */
const insideOf = (el) => {
  try {
    return el.contentDocument && el.contentDocument.body;
  } catch (e) {
    return null;
  }
};

/** What the document says about itself. */
const headOf = (metadata) => {
  const out = [];
  for (const el of [...query(document.documentElement, 'meta[content]')].slice(0, MOST_META)) {
    const name = ['property', 'name', 'itemprop', 'http-equiv'].find((name) => attr(el, name));
    if (name) out.push(`<meta ${name}="${quote(attr(el, name).slice(0, 100))}" content="${quote(attr(el, 'content').slice(0, 1000))}">`);
  }
  if (!metadata) return out.join('');
  for (const el of [...query(document.documentElement, 'link[rel~=canonical]')].slice(0, 1)) out.push(`<link rel=canonical href="${quote(absolute(attr(el, 'href') || '', el).slice(0, 5000))}">`);
  for (const el of [...query(document.documentElement, 'script[type="application/ld+json"]')].slice(0, MOST_LINKED)) {
    const text = textOf(el);
    if (text.length < MOST_LINKED_CHARS && !/<\/script/i.test(text)) out.push(`<script type="application/ld+json">${text}</script>`);
  }
  return out.join('');
};

/** Words below an invisible element; each text counts once. */
const textsIn = (el) => {
  let count = 0;
  const walker = document.createTreeWalker(el, 4);
  while (walker.nextNode()) {
    const around = walker.currentNode.parentElement;
    if (strip(textOf(walker.currentNode)).trim() && !(around && is(tagOf(around), NEVER))) count++;
  }
  return count;
};

/** @type {(root: Element, options: object) => object} */
export const collect = (root, { mode, selector, refs, metadata, limit, timeBudgetMs }) => {
  const out = [], links = [], start = now();
  const everything = mode == 'raw' || selector;
  const weight = textOf(root).length;
  let size = 0, hidden = 0, truncated = false, pre = 0;
  const put = (text) => {
    size += text.length;
    out.push(text);
  };

  const open = (el, tag) => {
    let head = '<' + tag;
    const names = attributesOf(el);
    for (let i = 0; i < names.length; i++) {
      const { name, value } = names[i];
      if (is(name, KEPT) && value && value.length < 300) head += ` ${name}="${quote(value)}"`;
      else if (is(name, 'alt alttext title') && (tag == 'img' || tag == 'math' || tag == 'abbr')) head += ` ${name}="${quote(value.slice(0, 5000))}"`;
    }
    if (tag == 'a' && attr(el, 'href')) {
      const raw = attr(el, 'href');
      head += ` href="${quote(raw[0] == '#' ? raw : absolute(raw, el).slice(0, 5000))}"`;
      if (refs && el.ownerDocument == document) head += ` data-ref="${links.push(el) - 1}"`;
    }
    if (tag == 'img') {
      const source = sourceOf(el);
      if (source) head += ` src="${quote(source.slice(0, 5000))}"`;
    }
    put(head + '>');
  };

  /** What becomes of an element: its tag in the fragment, "" for its content alone, undefined for nothing. */
  const fate = (el, tag) => {
    if (is(tag, NEVER)) {
      // A box of a task list says something; other controls do not.
      if (tag == 'input' && el.type == 'checkbox' && matches(el, 'li input')) put(`<input type=checkbox${el.checked ? ' checked' : ''}>`);
      return;
    }
    const style = styleOf(el);
    if (style.display == 'none') {
      // KaTeX, MathJax and Wikipedia hide the source of what they draw.
      if (hasMath(el, tag)) return tag == 'math' ? 'math' : '';
      return;
    }
    if (isGone(el)) {
      hidden += textsIn(el);
      return;
    }
    if (style.display != 'contents') {
      const box = boxOf(el);
      if (el != root && (isUnseen(el, box) || isOut(el)) && !hasMath(el, tag)) {
        hidden += textsIn(el);
        return;
      }
      if (tag == 'img' && (box.width < 8 || box.height < 8) && (box.width || box.height)) return;
      // What stays in place while the page moves below it is a bar, a banner or a box to click away.
      if (!everything && el != root && (matches(el, CHROME) || (is(style.position, 'fixed sticky') && !matches(el, 'th,td,tr,thead,h1,h2,h3'))) && textOf(el).length < 0.4 * weight) return;
    }
    if (is(tag, 'slot picture')) return '';
    if (is(tag, PLAIN) || tag.includes('-')) {
      if (BLOCK.test(style.display)) return 'div';
      return pre || tag.includes('-') || !attr(el, 'class') ? '' : 'span';
    }
    if (tag == 'div' && style.display.startsWith('inline') && !shadowOf(el)) return 'span';
    return tag;
  };

  /** Frames of the walk: nodes still to do, and what to write behind them. */
  const stack = [{ nodes: [root], at: 0, end: '' }];
  while (stack.length) {
    const top = stack[stack.length - 1];
    if (top.at >= top.nodes.length) {
      put(top.end);
      if (top.end == '</pre>') pre--;
      stack.pop();
      continue;
    }
    const node = top.nodes[top.at++], kind = kindOf(node);
    if (size > limit || now() - start > timeBudgetMs) {
      truncated = true;
      continue;
    }
    if (kind == 3) {
      const text = textOf(node);
      if (!text.trim()) {
        put(pre ? text : ' ');
        continue;
      }
      if (!top.sight) top.sight = !top.el ? SEEN : !isVisible(top.el) ? GONE : isInkless(top.el) || isFaint(top.el) ? UNSEEN : SEEN;
      const words = strip(text);
      if (top.sight == UNSEEN || (top.sight == SEEN && words.length < text.length - 2 && HIDING.test(text))) hidden++;
      if (top.sight == SEEN) put(escape(words.slice(0, limit)));
      continue;
    }
    if (kind != 1) continue;
    const tag = tagOf(node);
    if (is(tag, 'iframe frame')) {
      const body = !isGone(node) && isVisible(node) && insideOf(node);
      if (body && (everything || boxOf(node).height > 40)) stack.push({ nodes: [body], at: 0, end: '' });
      continue;
    }
    const become = fate(node, tag);
    if (become === undefined) continue;
    if (become == 'body') {
      put('<div>');
      stack.push({ nodes: kidsOf(node), at: 0, end: '</div>', el: node });
    } else if (is(become, VOID)) open(node, become);
    else if (become) {
      open(node, become);
      if (become == 'pre') pre++;
      stack.push({ nodes: become == 'math' ? [...node.childNodes] : kidsOf(node), at: 0, end: `</${become}>`, el: node });
    } else stack.push({ nodes: kidsOf(node), at: 0, end: '', el: node });
  }

  const title = document.title.slice(0, 500);
  return {
    html: `<html lang="${quote(attr(document.documentElement, 'lang') || '')}"><head><title>${escape(title)}</title>${headOf(metadata)}</head><body>${out.join('')}</body></html>`,
    title,
    url: document.URL,
    hidden,
    truncated,
    refs: links.length && globalThis.__agentBrowser.refsOf ? globalThis.__agentBrowser.refsOf(links) : [],
  };
};
