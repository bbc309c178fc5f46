/**
 * The snapshot: a walk of the flat tree that spends its budget where a person looks.
 *
 * What is far from the viewport, and what repeats, waits in a queue by distance and is walked while there is budget;
 * what is left becomes a "cut" that says how to go on. Nothing recurses: pages may be 20,000 deep.
 */
import { attr, boxOf, cut, findAll, flatParent, fold, kidsOf, kindOf, nextOf, strip, tagOf, textOf } from './dom.js';
import { CONTENT, FROM_CONTENT, INTERACTIVE, LEAF, ROLE_FLAGS, THIN } from './role-table.js';
import { roleOf } from './roles.js';
import { descriptionOf } from './names.js';
import { attrsOf } from './states.js';
import { clearStamps, failure, knownName, placeOf, placeRef, refOf, resolve } from './refs.js';
import { isGone, isInkless, isUnseen, styleOf } from './style.js';
import { frameIndex, indexOfFrame } from './frames.js';
import { newTurn, turn } from './turn.js';

const SKIP = /^(script|style|template|noscript|head|meta|link|title|desc|defs|source|track|param|base)$/;
const CHILDLESS = /^(input|textarea|img|iframe|frame|video|audio|canvas|object|embed|progress|meter|hr|math)$/;
/** So many alike siblings are walked before the rest waits. */
const ALIKE = 8;

/** A control that cannot be seen itself and is used through its label, or by a tap that lands on it. */
const isReachable = (el, box) => {
  if (!/^(input|select|textarea)$/.test(tagOf(el))) return false;
  const label = el.labels && [...el.labels].find((label) => {
    const { width, height } = boxOf(label);
    return width > 1 && height > 1 && styleOf(label).visibility == 'visible' && styleOf(label).opacity != '0';
  });
  return !!label || (box.width > 4 && box.height > 4 && document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) == el) || box.top > innerHeight;
};

export const snapshot = (options) => {
  const start = performance.now();
  newTurn();
  const o = Object.assign({ maxNodes: 500, maxTextPerNode: 200, maxAttrValueLen: 150, interactiveOnly: true, cursorInteractive: false, budgetChars: 60000, maxDepth: 60, timeBudgetMs: 300 }, options);
  const height = innerHeight;
  let list = [document.documentElement], from = 0, to = 1, hops = 0;
  if (o.from || o.scope) {
    const place = placeOf(o.from || o.scope);
    let target;
    if (place && place._last) {
      target = place._target.deref();
      const parent = target && flatParent(target);
      list = parent ? kidsOf(parent) : [];
      from = list.indexOf(target);
      to = list.indexOf(place._last.deref()) + 1 || list.length;
      if (from < 0) return failure('stale_ref', 'what followed ' + o.scope + ' is gone');
    } else {
      if (place) {
        const found = resolve(o.scope);
        if (found.error) return found;
        target = found.el;
      } else {
        try {
          target = findAll(document, o.scope)[0];
        } catch (e) {}
        if (!target) return failure('ref_not_found', 'nothing matches ' + o.scope);
      }
      list = [target];
    }
  }
  clearStamps();

  const stats = { domNodes: document.getElementsByTagName("*").length, visitedNodes: 0, emittedNodes: 0, skippedHidden: 0 };
  const reasons = new Set(), waiting = [];
  let chars = 0, textChars = 0, over = '', reach = height;
  const unbounded = o.maxNodes >= 1e4;
  const near = new Set();
  for (let i = 1; i < 8; i++)
    for (let j = 1; j < 4; j++)
      for (let el = document.elementFromPoint((innerWidth * j) / 4, (height * i) / 8); el && !near.has(el); el = flatParent(el)) near.add(el);

  const top = { role: 'document', tag: 'html', children: [] };
  /** @typedef {{_list: Node[], _i: number, _to: number, _out: any[], _depth: number, _named: number, _pointer: any, _block?: any, _run: number, _like?: string, _wait?: any}} Frame */
  let stack = [{ _list: list, _i: from, _to: to, _out: top.children, _depth: 0, _named: 0, _run: 0 }];

  const distance = (box) => Math.max(box.top - height, -box.bottom, 0);

  /** Puts this sibling off: into the range that ends here, or a new one. */
  const wait = (frame, d, kind) => {
    const i = frame._i - 1;
    let range = frame._wait;
    if (!range || range._to != i || range._kind != kind) {
      range = { _list: frame._list, _i: i, _out: [], _depth: frame._depth, _named: frame._named, _pointer: frame._pointer, _d: d, _kind: kind, _parent: frame._parent };
      frame._out.push(range._out);
      frame._out._text = null;
      range._out._range = range;
      waiting.push(range);
      frame._wait = range;
    }
    range._to = i + 1;
  };

  const addText = (frame, node) => {
    const out = frame._out, data = node.data;
    if (!data.trim()) {
      if (out._text) out._text.text += ' ';
      return;
    }
    frame._run = 0;
    if (frame._wait && frame._wait._to == frame._i - 1) {
      frame._wait._to++;
      return;
    }
    if (frame._named) return;
    const parent = frame._parent, style = parent && styleOf(parent);
    if (style) {
      if (frame._ink == null) frame._ink = style.visibility == 'visible' && !isInkless(parent, style, boxOf(parent));
      if (!frame._ink) {
        turn._removed++;
        return;
      }
    }
    if (textChars > o.budgetChars * (o.interactiveOnly ? 0.4 : 0.8)) {
      reasons.add('textBudget');
      return;
    }
    let words = data.slice(0, o.maxTextPerNode * 3);
    const seen = strip(words);
    if (seen != words) turn._removed++;
    if (data.length > words.length) words = seen + '…';
    else words = seen;
    const last = out._text;
    if (last && last.text.length < o.maxTextPerNode * 2) last.text += words;
    else if (last) reasons.add('maxTextPerNode');
    else {
      out.push((out._text = { role: 'text', text: words }));
      chars += 24;
    }
    const weight = /[^\0-\x7f]/.test(words) ? words.length * 3 : words.length;
    textChars += weight;
    chars += weight;
  };

  const addElement = (frame, el) => {
    const tag = tagOf(el), out = frame._out;
    if (SKIP.test(tag)) return;
    if (tag == 'br') {
      out._text = null;
      return;
    }
    stats.visitedNodes++;
    const style = styleOf(el);
    if (isGone(el, style)) {
      stats.skippedHidden++;
      return;
    }
    const box = boxOf(el), sized = box.width && box.height;
    if (!unbounded && !near.has(el) && !frame._now) {
      const like = tag + ' ' + attr(el, 'class');
      frame._run = like == frame._like ? frame._run + 1 : 1;
      frame._like = like;
      const d = distance(box), closed = tag == 'option' && frame._run > 10 && !sized;
      if (frame._run > ALIKE || closed) return wait(frame, closed ? 1 / 0 : d + height, 'alike');
      if (sized && d > reach) return wait(frame, d, 'cut');
    }
    frame._now = 0;
    if (style.opacity == '0' || isUnseen(el, style, box)) {
      if (!isReachable(el, box)) {
        stats.skippedHidden++;
        if (fold(textOf(el).slice(0, 500))) turn._removed++;
        return;
      }
    }

    const role = roleOf(el, 1), flags = ROLE_FLAGS[role] || 0, visible = style.visibility == 'visible';
    let interactive = visible && flags & INTERACTIVE, mark, pointer = frame._pointer;
    if (o.cursorInteractive && visible) {
      const hand = style.cursor == 'pointer';
      if (!interactive && tag != 'html' && tag != 'body' && !/^(label|option)$/.test(tag)) {
        if (attr(el, 'contenteditable') != null && el.isContentEditable) mark = 'editable';
        else if ((hand && !pointer && frame._named != 1) || attr(el, 'onclick') != null) mark = 'clickable';
        else if (attr(el, 'tabindex') >= '0' && el.tabIndex >= 0) mark = 'focusable';
      }
      pointer = hand && (pointer || interactive || mark);
    }
    const block = !/^(inline|contents)/.test(style.display);
    if (block) out._text = null;
    let next = out, named = frame._named, depth = frame._depth;
    const frameTag = tag == 'iframe' || tag == 'frame';
    const plain = !visible || (!mark && !interactive && (flags & THIN || !(role in ROLE_FLAGS) || (named && !frameTag)));
    if (!plain) {
      const name = knownName(el, role);
      const shown = interactive || mark || (flags & CONTENT && (name || !o.interactiveOnly));
      if (!(shown || frameTag) && /^ima?g/.test(role)) return;
      /** @type {any} */
      const node = { role: role == 'image' ? 'img' : role, tag };
      if (name) node.name = cut(name, o.maxTextPerNode);
      const attrs = attrsOf(el, role, name, o);
      for (const _ in attrs) {
        node.attrs = attrs;
        break;
      }
      if (shown) {
        node.ref = refOf(el, role, name);
        hops++;
        const said = interactive && descriptionOf(el, name);
        if (said && said != name) node.description = cut(said, o.maxTextPerNode);
      }
      if (mark) node.cursorInteractive = mark;
      if (o.boxes && (shown || frameTag)) node.box = [box.left, box.top, box.width, box.height].map(Math.round);
      if (frameTag) node.frame = indexOfFrame(el);
      out.push(node);
      out._text = null;
      const cost = JSON.stringify(node);
      chars += cost.length + 14 + (/[^\0-\x7f]/.test(cost) ? cost.length : 0);
      node.children = next = [];
      depth++;
      if (interactive || mark) named = flags & LEAF || tag == 'select' ? (tag == 'select' ? 0 : 2) : name && (flags & FROM_CONTENT || mark) ? 1 : /^(textbox|searchbox)$/.test(role) || (role == 'combobox' && tag != 'select') ? 2 : named;
      else if (flags & FROM_CONTENT && name && role == 'heading') named = 1;
      else if (/^ima?g/.test(role)) named = 2;
    }
    if (CHILDLESS.test(tag)) return;
    if (depth > o.maxDepth) {
      const kids = kidsOf(el);
      if (kids.some((kid) => kindOf(kid) == 1)) {
        reasons.add('maxDepth');
        const range = { _list: kids, _i: 0, _to: kids.length, _out: [], _d: 1 / 0, _kind: 'cut' };
        next.push(range._out);
        waiting.push(range);
        return;
      }
    }
    const kids = kidsOf(el);
    if (kids.length) stack.push({ _list: kids, _i: 0, _to: kids.length, _out: next, _depth: depth, _named: named, _pointer: pointer, _parent: el, _run: 0, _block: block && next == out });
  };

  const drain = () => {
    while (stack.length) {
      const frame = stack[stack.length - 1];
      if (frame._i >= frame._to) {
        stack.pop();
        if (frame._block) frame._out._text = null;
        continue;
      }
      if (hops >= o.maxNodes) over = 'maxNodes';
      else if (chars >= o.budgetChars) over = 'budgetChars';
      else if (!(stats.visitedNodes & 63) && performance.now() - start > o.timeBudgetMs) over = 'jsTime';
      if (over) {
        for (const { _list, _i, _to, _out, _kind } of stack) {
          if (_i >= _to) continue;
          const range = { _list, _i, _to, _out: [], _kind: _kind || 'cut', _d: 0 };
          _out.push(range._out);
          waiting.push(range);
        }
        return;
      }
      const node = frame._list[frame._i++], kind = kindOf(node);
      if (kind == 3) addText(frame, node);
      else if (kind == 1) addElement(frame, node);
    }
  };

  drain();
  while (!over && waiting.length) {
    let best = 0;
    for (let i = 1; i < waiting.length; i++) if (waiting[i]._d < waiting[best]._d) best = i;
    const range = waiting[best];
    if (range._d == 1 / 0) break;
    waiting.splice(best, 1);
    // A few siblings at a time: then the rest waits again, by its own distance.
    const to = Math.min(range._i + 12, range._to), rest = to < range._to;
    reach = Math.max(reach, range._d + height);
    stack = [Object.assign({}, range, { _to: to, _run: -99, _now: 0, _parent: range._parent })];
    if (rest) {
      const out = [];
      let probe = to;
      while (probe < range._to - 1 && kindOf(range._list[probe]) != 1) probe++;
      const next = Object.assign({}, range, { _i: to, _out: out, _d: (kindOf(range._list[probe]) == 1 ? distance(boxOf(range._list[probe])) : 0) + (range._kind == 'alike' ? height : 0) });
      waiting.push(next);
      drain();
      range._out.push(out);
    } else drain();
  }
  if (over) reasons.add(over);

  for (const { _list, _i, _to, _out, _kind } of waiting) {
    let count = 0, role;
    for (let i = _i; i < _to; i++)
      if (kindOf(_list[i]) == 1 && !SKIP.test(tagOf(_list[i]))) {
        count++;
        if (!role || role == 'generic') role = roleOf(_list[i], 1);
      }
    if (count) _out.push({ more: placeRef(_list, _i, _to), count, role, kind: _kind });
  }
  tidy(top, stats, o, reasons);
  const truncated = waiting.length > 0 || reasons.size > 0;
  stats.hiddenTextRemoved = turn._removed;
  stats.jsTimeMs = Math.round((performance.now() - start) * 10) / 10;
  return { version: 1, url: location.href, title: fold(document.title), timestamp: Date.now(), frameIndex: frameIndex(), tree: top, stats, truncated, reasons: [...reasons] };
};

/** Flattens what waited into its place, folds text, drops structure with nothing in it. */
const tidy = (top, stats, o, reasons) => {
  const order = [top];
  for (const node of order) {
    const flat = [], pending = [node.children];
    while (pending.length) {
      const item = pending.pop();
      if (Array.isArray(item)) for (let i = item.length; i--; ) pending.push(item[i]);
      else {
        flat.push(item);
        if (item.children) order.push(item);
      }
    }
    node.children = flat;
  }
  for (let i = order.length; i--; ) {
    const node = order[i], kids = [];
    for (const kid of node.children) {
      if (kid.role == 'text' && !kid.tag) {
        const words = fold(kid.text);
        if (!words || words == node.name) continue;
        if (words.length > o.maxTextPerNode) reasons.add('maxTextPerNode');
        kids.push({ role: 'text', text: cut(words, o.maxTextPerNode) });
      } else if (kid.more || kid.ref || kid.frame != null || kid.children || kid.text) kids.push(kid);
    }
    if (kids.length == 1 && kids[0].role == 'text' && node != top) {
      node.text = kids[0].text;
      delete node.children;
    } else if (kids.length || node == top) {
      node.children = kids;
      stats.emittedNodes += kids.length;
    } else delete node.children;
  }
};
