/**
 * The snapshot: a walk of the flat tree that spends its budget where a person looks.
 *
 * What is far from the viewport, and what repeats, waits by its distance and is walked while there is budget; what is left
 * becomes a cut that says how to go on. Nothing recurses: pages may be 20,000 deep.
 */
import { assign, attr, boxOf, cut, doc, findAll, flatParent, fold, is, isSkipped, isVoid, kidsOf, kindOf, labelsOf, matches, max, min, now, round, strip, tagOf, textOf } from './dom.js';
import { CONTENT, FROM_CONTENT, INTERACTIVE, LEAF, ROLE_FLAGS, THIN } from './role-table.js';
import { roleOf } from './roles.js';
import { descriptionOf } from './names.js';
import { attrsOf } from './states.js';
import { clearStamps, failure, identify, introduce, meaningOf, placeRef, resolve } from './refs.js';
import { isSeen, rectOf } from './hit.js';
import { isGone, isInkless, isInline, isUnseen, isVisible, styleOf } from './style.js';
import { turn } from './turn.js';

/** A control out of sight is used through its label, or by a tap that lands on it all the same. */
const isReachable = (el, { width }) => matches(el, 'input,select,textarea') && (width > 4 || labelsOf(el).some((it) => isSeen(it)));

const indexIn = (frames, frame) => [].indexOf.call(frames, frame);

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

export const snapshot = ({ maxNodes = 500, maxTextPerNode = 200, maxAttrValueLen = 150, interactiveOnly = true, cursorInteractive, budgetChars = 8e4, maxDepth = 60, timeBudgetMs = 300, boxes, scope } = {}) => {
  const start = now(), root = doc.documentElement, place = meaningOf(scope) || {}, first = place._target ? place._target.deref() : scope ? findAll(root, scope)[0] : root;
  const found = place._key ? resolve(scope) : { el: first };
  if (!found.el) return found.error ? found : failure('ref_not_found', 'nothing at ' + scope);
  clearStamps();

  let list = [first], i = 0, end = 1;
  if (place._span && flatParent(first)) {
    list = kidsOf(flatParent(first));
    i = list.indexOf(first);
    end = min(list.length, i + place._span);
  }
  const stats = { domNodes: doc.all.length, visitedNodes: 0, emittedNodes: 0, skippedHidden: 0 }, reasons = new Set(), waiting = [], top = { role: 'document', tag: 'html', children: [] };
  let stack = [{ _list: list, _i: i, _end: end, _out: top.children, _depth: 0 }], spent = 0, refs = 0, over, reach = innerHeight;

  const distance = ({ top, bottom, left, right }) => max(top - innerHeight, -bottom, left - innerWidth, -right, 0);
  const fork = (run, _i, _end, more) => {
    const _out = [];
    run._out.push(_out);
    run._out._text = 0;
    return assign({}, run, { _i, _end, _out, _wait: 0, _like: 0 }, more);
  };
  const wait = (run, _away, _kind) => {
    const last = run._wait, at = run._i;
    if (last && last._end == at - 1 && last._kind == _kind) last._end++;
    else waiting.push((run._wait = fork(run, at - 1, at, { _away, _kind })));
  };

  const addText = (run, { data }) => {
    const { _out, _parent, _wait } = run;
    let text = _out._text;
    if (!data.trim()) return text && (text.text += ' ');
    run._like = 0;
    if (_wait && _wait._end == run._i - 1) return _wait._end++;
    if (run._named) return;
    if (_parent && run._ink == null) run._ink = isVisible(_parent) && !isInkless(_parent) && !matches(_parent, 'details:not([open])');
    if (run._ink === false) return turn._removed++;
    const piece = data.slice(0, maxTextPerNode * 2), words = strip(piece);
    if (words != piece) turn._removed++;
    if (!text) _out.push((text = _out._text = { text: '' }));
    if (text.text.length < maxTextPerNode * 2) {
      text.text += words;
      spent += words.length + 24;
    }
  };

  const addElement = (run, el) => {
    const tag = tagOf(el), isFrame = is(tag, 'iframe frame');
    let { _out, _named, _hand, _depth } = run, mark, out = _out;
    if (tag == 'br') _out._text = 0;
    if (tag == 'br' || isSkipped(tag)) return;
    stats.visitedNodes++;
    if (isGone(el)) return stats.skippedHidden++;
    const box = boxOf(el), sized = box.width && box.height;
    const like = tag + attr(el, 'class'), away = sized ? distance(box) : innerHeight;
    if (!run._now) {
      run._alike = like == run._like ? run._alike + 1 : 1;
      run._like = like;
      if (away && run._alike > 8) return wait(run, tag == 'option' ? 1 / 0 : away + innerHeight, 'alike');
      if (away > reach) return wait(run, away, 'cut');
    }
    run._now = 0;
    if (isUnseen(el, box) && !isReachable(el, box)) {
      if (fold(textOf(el).slice(0, 500))) turn._removed++;
      return stats.skippedHidden++;
    }
    const role = roleOf(el, 1), flags = ROLE_FLAGS[role], visible = isVisible(el), active = visible && flags & INTERACTIVE, block = !isInline(el);
    if (cursorInteractive && visible) {
      const hand = styleOf(el).cursor == 'pointer';
      if (!active && !matches(el, 'html,body,label,option'))
        mark = matches(el, '[contenteditable]') && el.isContentEditable ? 'editable' : (hand && !_hand && _named != 1) || matches(el, '[onclick]') ? 'clickable' : attr(el, 'tabindex') >= '0' && 'focusable';
      _hand = hand && (_hand || active || mark);
    }
    if (block) _out._text = 0;
    // What a control's label says is the control's name.
    if (tag == 'label' && el.control && !isGone(el.control)) _named = 2;
    if (visible && (mark || active || isFrame || !(flags & THIN || flags == null || _named))) {
      const known = identify(el), { name } = known, shown = active || mark || (flags & CONTENT && (name || !interactiveOnly)), image = /^ima?g/.test(role);
      if (!shown && image) return;
      refs += !!shown;
      // What is undefined is not in the JSON.
      const node = {
        role: image ? 'img' : role,
        tag,
        name: cut(name, maxTextPerNode) || undefined,
        attrs: attrsOf(el, role, name, maxAttrValueLen, interactiveOnly),
        ref: shown ? introduce(el, known) : undefined,
        description: (active && cut(descriptionOf(el, name), maxTextPerNode)) || undefined,
        cursorInteractive: mark || undefined,
        box: boxes ? rectOf(box).map(round) : undefined,
        frame: isFrame ? indexIn(window, el.contentWindow) : undefined,
      };
      spent += JSON.stringify(node).length + 15;
      _out.push(node);
      _out._text = 0;
      node.children = out = [];
      _depth++;
      if (tag != 'select') _named = flags & LEAF || is(role, 'textbox searchbox combobox') ? 2 : name && (mark || (flags & FROM_CONTENT && (active || role == 'heading'))) ? 1 : _named;
    }
    if (isVoid(tag)) return;
    const kids = kidsOf(el), next = { _list: kids, _i: 0, _end: kids.length, _out: out, _depth, _named, _hand, _parent: el, _block: block };
    if (_depth <= maxDepth) stack.push(next);
    else if (kids[0]) {
      reasons.add('maxDepth');
      waiting.push(fork(next, 0, kids.length, { _away: 1 / 0 }));
    }
  };

  for (;;) {
    const run = stack[stack.length - 1];
    over = refs >= maxNodes ? 'maxNodes' : spent >= budgetChars ? 'budgetChars' : now() - start > timeBudgetMs ? 'jsTime' : 0;
    if (run) {
      if (over) break;
      if (run._i < run._end) {
        const node = run._list[run._i++], kind = kindOf(node);
        if (kind == 3) addText(run, node);
        else if (kind == 1) addElement(run, node);
      } else if (stack.pop()._block) run._out._text = 0;
    } else {
      const best = waiting.reduce((a, b) => (b._away < a._away ? b : a), { _away: 1 / 0 }), { _i, _end, _list, _away, _kind } = best, to = _i + 12;
      if (!_list) break;
      waiting.splice(waiting.indexOf(best), 1);
      reach = max(reach, _away + innerHeight);
      // A few siblings, the first of them in any case; then the rest waits by its own distance.
      stack = [fork(best, _i, min(to, _end), { _now: 1 })];
      if (to < _end) waiting.push(fork(best, to, _end, { _away: kindOf(_list[to]) == 1 ? distance(boxOf(_list[to])) + (_kind == 'alike' ? innerHeight : 0) : _away }));
    }
  }
  if (over && (stack[0] || waiting[0])) reasons.add(over);
  for (const run of stack) waiting.push(fork(run, run._i, run._end));
  for (const { _list, _i, _end, _out, _kind } of waiting) {
    const rest = _list.slice(_i, _end).filter((node) => kindOf(node) == 1 && !isSkipped(tagOf(node)));
    if (rest[0]) _out.push({ more: placeRef(_list[_i], _end - _i), count: rest.length, role: roleOf(rest[0], 1), kind: _kind || 'cut' });
  }

  // What waited goes into its place, text is folded, structure with nothing in it goes.
  const order = [top];
  for (const node of order) {
    while (node.children.some(Array.isArray)) node.children = [].concat(...node.children);
    order.push(...node.children.filter((kid) => kid.children));
  }
  for (const node of order.reverse()) {
    const kids = node.children.filter((kid) => {
      if (kid.tag || kid.more) return kid.more || kid.ref || kid.frame != null || kid.children || kid.text;
      const words = fold(kid.text);
      kid.role = 'text';
      kid.text = cut(words, maxTextPerNode);
      if (words != kid.text) reasons.add('maxTextPerNode');
      return words && words != node.name;
    });
    delete node.children;
    if (kids.length == 1 && kids[0].role == 'text') node.text = kids[0].text;
    else if (kids[0]) node.children = kids;
    stats.emittedNodes += kids.length;
  }
  stats.hiddenTextRemoved = turn._removed;
  stats.jsTimeMs = now() - start;
  return { version: 1, url: location.href, title: fold(doc.title), timestamp: Date.now(), frameIndex: indexIn(parent, window), tree: top, stats, truncated: !!(waiting[0] || reasons.size), reasons: [...reasons] };
};
