/**
 * The snapshot: a walk of the flat tree that spends its budget where a person looks.
 *
 * What is far from the viewport, and what repeats, waits by its distance and is walked while there is budget; what is left
 * becomes a cut that says how to go on. Nothing recurses: pages may be 20,000 deep.
 */
import { assign, attr, boxOf, cut, findAll, flatParent, fold, is, kidsOf, kindOf, labelsOf, matches, now, strip, tagOf, textOf } from './dom.js';
import { CONTENT, FROM_CONTENT, INTERACTIVE, LEAF, ROLE_FLAGS, THIN } from './role-table.js';
import { roleOf } from './roles.js';
import { descriptionOf } from './names.js';
import { attrsOf } from './states.js';
import { clearStamps, failure, knownName, meaningOf, placeRef, refOf, resolve } from './refs.js';
import { isGone, isInkless, isUnseen, isVisible, styleOf } from './style.js';
import { newTurn, turn } from './turn.js';

const SKIP = 'script style template noscript head meta link title desc defs source track';
const CHILDLESS = 'input textarea img iframe frame video audio canvas object embed progress meter';

/** A control out of sight is used through its label, or by a tap that lands on it all the same. */
const isReachable = (el, { left, top, width, height }) =>
  matches(el, 'input,select,textarea') &&
  (labelsOf(el).some((label) => isVisible(label) && !isUnseen(label, boxOf(label))) || (width > 4 && height > 4 && (top > innerHeight || document.elementFromPoint(left + width / 2, top + height / 2) == el)));

/** UTF-8 bytes, about. */
const weigh = (text) => text.length + text.replace(/[\0-\x7f]+/g, '').length * 2;

const indexIn = (frames, frame) => {
  for (let i = 0; i < frames.length; i++) if (frames[i] == frame) return i;
  return -1;
};

/**
 * A run of siblings to walk, or waiting to be.
 * @typedef {object} Run
 * @property {Node[]} _list
 * @property {number} _i the next of them
 * @property {number} _end
 * @property {any[]} _out where nodes go; `_text` on it is the text that goes on
 * @property {number} [_depth]
 * @property {number} [_named] 1: a name says the text in here; 2: only nested controls count
 * @property {any} [_hand] the parent already counts as clickable
 * @property {Element} [_parent]
 * @property {any} [_block] its end breaks the text
 * @property {string} [_like] what the last siblings were, and `_alike` how many of them
 * @property {Run} [_wait] the run that waits at this place
 * @property {number} [_away] distance
 * @property {"cut" | "alike"} [_kind]
 */

export const snapshot = (options) => {
  const start = now(), height = innerHeight, root = document.documentElement;
  newTurn();
  const o = assign({ maxNodes: 500, maxTextPerNode: 200, maxAttrValueLen: 150, interactiveOnly: true, budgetChars: 8e4, maxDepth: 60, timeBudgetMs: 300 }, options);
  const scope = o.from || o.scope, place = meaningOf(scope);
  let list = [root], i = 0, end = 1;
  if (place && place._last) {
    const first = place._target.deref(), parent = first && flatParent(first);
    list = parent ? kidsOf(parent) : [];
    i = list.indexOf(first);
    end = list.indexOf(place._last.deref()) + 1 || list.length;
    if (i < 0) return failure('stale_ref', 'what followed is gone');
  } else if (scope) {
    const found = place ? resolve(scope) : { el: findAll(root, scope)[0] };
    if (found.error) return found;
    if (!found.el) return failure('ref_not_found', 'nothing matches ' + scope);
    list = [found.el];
  }
  clearStamps();

  const stats = { domNodes: document.getElementsByTagName('*').length, visitedNodes: 0, emittedNodes: 0, skippedHidden: 0 };
  const reasons = new Set(), waiting = [], near = new Set(), bounded = o.maxNodes < 1e4;
  const top = { role: 'document', tag: 'html', children: [] };
  let stack = [{ _list: list, _i: i, _end: end, _out: top.children, _depth: 0 }];
  let spent = 0, textSpent = 0, refs = 0, over, reach = height;
  // Fixed layers may stand anywhere in the document: what is painted in the viewport is near.
  for (let k = 0; k < 21; k++) for (let el = document.elementFromPoint((innerWidth * (1 + (k % 3))) / 4, (height * (k + 1)) / 22); el && !near.has(el); el = flatParent(el)) near.add(el);

  const distance = ({ top, bottom }) => Math.max(top - height, -bottom, 0);
  const fork = (run, _i, _end, more) => {
    const _out = [];
    run._out.push(_out);
    run._out._text = 0;
    return assign({}, run, { _i, _end, _out, _wait: 0, _like: 0 }, more);
  };
  const wait = (run, _away, _kind) => {
    if (run._wait && run._wait._end == run._i - 1 && run._wait._kind == _kind) run._wait._end++;
    else waiting.push((run._wait = fork(run, run._i - 1, run._i, { _away, _kind })));
  };

  const addText = (run, { data }) => {
    const out = run._out, parent = run._parent;
    if (!data.trim()) return out._text && (out._text.text += ' ');
    run._like = 0;
    if (run._wait && run._wait._end == run._i - 1) return run._wait._end++;
    if (run._named) return;
    if (parent && run._ink == null) run._ink = isVisible(parent) && !isInkless(parent, boxOf(parent)) && !matches(parent, 'details:not([open])');
    if (parent && !run._ink) return turn._removed++;
    if (textSpent > o.budgetChars * 0.4) return reasons.add('textBudget');
    const piece = data.slice(0, o.maxTextPerNode * 2), words = strip(piece), weight = weigh(words);
    if (words != piece) turn._removed++;
    if (!out._text) out.push((out._text = { role: 'text', text: '' }));
    if (out._text.text.length < o.maxTextPerNode * 2) {
      out._text.text += words;
      textSpent += weight;
      spent += weight + 24;
    }
  };

  const addElement = (run, el) => {
    const tag = tagOf(el), style = styleOf(el), isFrame = is(tag, 'iframe frame');
    let { _out, _named, _hand, _depth } = run;
    if (tag == 'br') _out._text = 0;
    if (tag == 'br' || is(tag, SKIP)) return;
    stats.visitedNodes++;
    if (isGone(el)) return stats.skippedHidden++;
    const box = boxOf(el), sized = box.width && box.height;
    if (bounded && !near.has(el) && !run._now) {
      const like = tag + attr(el, 'class'), away = distance(box), closed = tag == 'option' && !sized;
      run._alike = like == run._like ? run._alike + 1 : 1;
      run._like = like;
      if (run._alike > 8) return wait(run, closed ? 1 / 0 : away + height, 'alike');
      if (sized && away > reach) return wait(run, away, 'cut');
    }
    run._now = 0;
    if (isUnseen(el, box) && !isReachable(el, box)) {
      if (fold(textOf(el).slice(0, 500))) turn._removed++;
      return stats.skippedHidden++;
    }
    const role = roleOf(el, 1), flags = ROLE_FLAGS[role], visible = isVisible(el), active = visible && flags & INTERACTIVE, block = !is(style.display, 'inline contents');
    let mark, out = _out;
    if (o.cursorInteractive && visible) {
      const hand = style.cursor == 'pointer';
      if (!active && !matches(el, 'html,body,label,option'))
        mark = matches(el, '[contenteditable]') && el.isContentEditable ? 'editable' : (hand && !_hand && _named != 1) || matches(el, '[onclick]') ? 'clickable' : attr(el, 'tabindex') >= '0' && 'focusable';
      _hand = hand && (_hand || active || mark);
    }
    if (block) _out._text = 0;
    // What a control's label says is the control's name.
    if (tag == 'label' && el.control && !isGone(el.control)) _named = 2;
    if (visible && (mark || active || isFrame || !(flags & THIN || flags == null || _named))) {
      const name = knownName(el, role), shown = active || mark || (flags & CONTENT && (name || !o.interactiveOnly)), image = /^ima?g/.test(role);
      if (!shown && image) return;
      const node = { role: image ? 'img' : role, tag }, attrs = attrsOf(el, role, name, o), said = active && descriptionOf(el, name);
      if (name) node.name = cut(name, o.maxTextPerNode);
      if (attrs) node.attrs = attrs;
      if (shown) {
        node.ref = refOf(el, role, name);
        refs++;
      }
      if (said && said != name) node.description = cut(said, o.maxTextPerNode);
      if (mark) node.cursorInteractive = mark;
      if (o.boxes) node.box = [box.left, box.top, box.width, box.height].map(Math.round);
      if (isFrame) node.frame = indexIn(window, el.contentWindow);
      spent += weigh(JSON.stringify(node)) + 15;
      _out.push(node);
      _out._text = 0;
      node.children = out = [];
      _depth++;
      if (tag != 'select') _named = (flags & LEAF || is(role, 'textbox searchbox combobox')) ? 2 : name && (mark || (flags & FROM_CONTENT && (active || role == 'heading'))) ? 1 : _named;
    }
    if (is(tag, CHILDLESS)) return;
    const kids = kidsOf(el), next = { _list: kids, _i: 0, _end: kids.length, _out: out, _depth, _named, _hand, _parent: el, _block: block };
    if (_depth <= o.maxDepth) stack.push(next);
    else if (kids[0]) {
      reasons.add('maxDepth');
      waiting.push(fork(next, 0, kids.length, { _away: 1 / 0, _kind: 'cut' }));
    }
  };

  for (;;) {
    const run = stack[stack.length - 1];
    if (run) {
      over = refs >= o.maxNodes ? 'maxNodes' : spent >= o.budgetChars ? 'budgetChars' : now() - start > o.timeBudgetMs ? 'jsTime' : 0;
      if (over) break;
      if (run._i < run._end) {
        const node = run._list[run._i++], kind = kindOf(node);
        if (kind == 3) addText(run, node);
        else if (kind == 1) addElement(run, node);
      } else if (stack.pop()._block) run._out._text = 0;
      continue;
    }
    const best = waiting.reduce((a, b) => (b._away < a._away ? b : a), { _away: 1 / 0 });
    if (!best._out) break;
    waiting.splice(waiting.indexOf(best), 1);
    reach = Math.max(reach, best._away + height);
    // A few siblings, the first of them in any case; then the rest waits by its own distance.
    const to = best._i + 12, rest = best._list[to];
    stack = [fork(best, best._i, Math.min(to, best._end), { _now: 1, _like: 0 })];
    if (to < best._end) waiting.push(fork(best, to, best._end, { _away: (kindOf(rest) == 1 ? distance(boxOf(rest)) : best._away) + (best._kind == 'alike' ? height : 0) }));
  }
  if (over) reasons.add(over);
  for (const run of stack) if (run._i < run._end) waiting.push(fork(run, run._i, run._end));
  for (const { _list, _i, _end, _out, _kind } of waiting) {
    const rest = _list.slice(_i, _end).filter((node) => kindOf(node) == 1 && !is(tagOf(node), SKIP));
    if (rest[0]) _out.push({ more: placeRef(_list[_i], _list[_end - 1]), count: rest.length, role: roleOf(rest[0], 1), kind: _kind || 'cut' });
  }

  // What waited goes into its place, text is folded, structure with nothing in it goes.
  const order = [top];
  for (const node of order) {
    const todo = [node.children];
    node.children = [];
    while (todo.length) {
      const item = todo.pop();
      if (item.role || item.more) node.children.push(item);
      else for (let k = item.length; k--; ) todo.push(item[k]);
      if (item.children) order.push(item);
    }
  }
  for (const node of order.reverse()) {
    const kids = node.children.filter((kid) => {
      if (kid.tag || kid.more) return kid.more || kid.ref || kid.frame != null || kid.children || kid.text;
      const words = fold(kid.text);
      kid.text = cut(words, o.maxTextPerNode);
      if (words != kid.text) reasons.add('maxTextPerNode');
      return words && words != node.name;
    });
    delete node.children;
    if (kids.length == 1 && !kids[0].tag && kids[0].text) node.text = kids[0].text;
    else if (kids[0]) node.children = kids;
    stats.emittedNodes += kids.length;
  }
  stats.hiddenTextRemoved = turn._removed;
  stats.jsTimeMs = Math.round((now() - start) * 10) / 10;
  return {
    version: 1,
    url: location.href,
    title: fold(document.title),
    timestamp: Date.now(),
    frameIndex: indexIn(parent == window ? [] : parent, window),
    tree: top,
    stats,
    truncated: !!(waiting[0] || reasons.size),
    reasons: [...reasons],
  };
};
