/**
 * The snapshot: a walk of the flat tree that spends its budget where a person looks.
 *
 * Elements wait in queues by how many screens they are away (what repeats: one more) and are walked while there is
 * budget. All they give goes into one linked list in document order; what was not walked stands in it as it is and
 * becomes a cut that says how to go on. Nothing recurses and every element is seen once: pages may be 20,000 deep.
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

/** Of the siblings that look alike, so many are walked like others. */
const SAMPLES = 8;
/** The queue of all that is further away than can matter. */
const LAST = 99;

const indexIn = (frames, frame) => [].indexOf.call(frames, frame);
/** UTF-8 bytes, as they go over the wire. */
const encoder = new TextEncoder(), weigh = (text) => encoder.encode(text).length;

/**
 * A place in the list.
 * @typedef {object} Mark
 * @property {string | object | 0} _is words; a node, where it opens and again where it closes; 0: an edge between words
 * @property {Mark} [_next]
 * @property {Element} [_el] not walked yet
 * @property {DOMRect} [_box]
 * @property {Element} [_parent]
 * @property {number} [_i] its place among its siblings
 * @property {Text[]} [_tail] the words that follow it, while it waits
 * @property {"cut" | "alike"} [_kind]
 * @property {number} [_depth]
 * @property {any} [_named] a name says the text in here: only controls count
 * @property {any} [_hand] the parent already counts as clickable
 */

export const snapshot = ({ maxNodes = 500, maxTextPerNode = 200, maxAttrValueLen = 150, interactiveOnly = true, cursorInteractive, budgetChars = 8e4, maxDepth = 60, timeBudgetMs = 300, boxes, scope } = {}) => {
  const start = now(), place = meaningOf(scope), found = !scope ? { el: doc.documentElement } : !place ? { el: findAll(doc.documentElement, scope)[0] } : place._span ? { el: place._target.deref() } : resolve(scope), { el } = found;
  if (!el) return found.error ? found : failure('ref_not_found', 'nothing at ' + scope);
  clearStamps();

  const stats = { domNodes: doc.all.length, visitedNodes: 0, emittedNodes: 0, skippedHidden: 0 }, reasons = new Set(), top = { role: 'document', tag: 'html', children: [] }, queues = [], out = { children: [] };
  let away = 0, stack = [], spent = 0, refs = 0, line = 0, at = { _is: top }, inkOf, ink, over, left;
  const first = at, late = () => now() - start > timeBudgetMs;

  const put = (_is) => {
    line = _is.trim ? line + _is.length : 0;
    at = at._next = { _is, _next: at._next };
  };

  const addText = ({ data }, parent) => {
    if (line > maxTextPerNode * 2) return;
    if (!/\S/.test(data)) return put(' ');
    if (inkOf != parent) {
      inkOf = parent;
      ink = isVisible(parent) && !isInkless(parent) && !matches(parent, 'details:not([open])');
    }
    const piece = data.slice(0, maxTextPerNode * 2), words = strip(piece);
    if (!ink || words != piece) turn._removed++;
    if (ink) {
      spent += weigh(words) + 9;
      put(words);
    }
  };

  const expand = (list, from, to, _parent, _depth, _named, _hand) => {
    const ready = [];
    let like, alike, waits;
    for (let _i = from; _i < to; _i++) {
      const kid = list[_i], kind = kindOf(kid);
      if (kind == 3 && !_named) {
        if (/\S/.test(kid.data)) like = 0;
        if (waits) waits._tail.push(kid);
        else addText(kid, _parent);
      } else if (kind == 1 && !isSkipped(tagOf(kid))) {
        const mark = { _is: 0, _next: at._next, _el: kid, _parent, _i, _tail: [], _depth, _named, _hand }, key = tagOf(kid) + attr(kid, 'class');
        at = at._next = mark;
        alike = key == like ? alike + 1 : 1;
        like = key;
        const many = alike > SAMPLES;
        mark._kind = many ? 'alike' : 'cut';
        waits = mark;
        if (_depth > maxDepth) reasons.add('maxDepth');
        else if (late()) over = 'jsTime';
        else if (!(many && tagOf(kid) == 'option')) {
          const { top, bottom, left, right, width, height } = (mark._box = boxOf(kid)), screens = width && height ? min(LAST, many + Math.ceil(max(top - innerHeight, -bottom, left - innerWidth, -right, 0) / innerHeight)) : away;
          if (screens > away) (queues[screens] = queues[screens] || []).push(mark);
          else {
            ready.push(mark);
            waits = 0;
          }
        }
      }
    }
    while (ready[0]) stack.push(ready.pop());
  };

  const walk = (mark) => {
    const { _el: el, _box: box, _tail, _depth, _parent } = mark, tag = tagOf(el), isFrame = is(tag, 'iframe frame');
    let { _named, _hand } = mark, node, kind;
    at = mark;
    mark._el = line = 0;
    mark._is = '';
    stats.visitedNodes++;
    const gone = isGone(el);
    // A control out of sight is used through its label, or by a tap that lands on it all the same.
    if (gone || (isUnseen(el, box) && !(matches(el, 'input,select,textarea') && (box.width > 4 || labelsOf(el).some((it) => isSeen(it)))))) {
      if (!gone && fold(textOf(el).slice(0, 500))) turn._removed++;
      stats.skippedHidden++;
    } else {
      const role = roleOf(el, 1), flags = ROLE_FLAGS[role], visible = isVisible(el), active = visible && flags & INTERACTIVE, edge = tag == 'br' || !isInline(el), image = /^ima?g/.test(role);
      if (cursorInteractive && visible) {
        const hand = styleOf(el).cursor == 'pointer';
        if (!active && !matches(el, 'html,body,label,option'))
          kind = matches(el, '[contenteditable]') && el.isContentEditable ? 'editable' : (hand && !_hand && !_named) || matches(el, '[onclick]') ? 'clickable' : attr(el, 'tabindex') >= '0' ? 'focusable' : 0;
        _hand = hand && (_hand || active || kind);
      }
      // What a control's label says is the control's name.
      if (tag == 'label' && el.control && !isGone(el.control)) _named = 1;
      if (edge) put(0);
      if (visible && (kind || active || isFrame || !(flags & THIN || flags == null || _named))) {
        const known = identify(el), { name } = known, shown = active || kind || (flags & CONTENT && (name || !interactiveOnly));
        if (shown || !image) {
          // What is undefined is not in the JSON.
          node = {
            role: image ? 'img' : role,
            tag,
            name: cut(name, maxTextPerNode) || undefined,
            attrs: attrsOf(el, role, name, maxAttrValueLen, interactiveOnly),
            ref: shown ? introduce(el, known) : undefined,
            description: (active && cut(descriptionOf(el, name), maxTextPerNode)) || undefined,
            cursorInteractive: kind || undefined,
            box: boxes ? rectOf(box).map(round) : undefined,
            frame: isFrame ? indexIn(window, el.contentWindow) : undefined,
          };
          refs += !!shown;
          spent += weigh(JSON.stringify(node)) + 15;
          put(node);
          node.children = [];
          if (tag != 'select') _named = flags & LEAF || is(role, 'textbox searchbox combobox') || (name && (kind || (flags & FROM_CONTENT && (active || role == 'heading')))) || _named;
        }
      }
      // In document order: what comes behind the children is in the list before they are.
      const here = at;
      if (node) put(node);
      if (edge) put(0);
      for (const text of _tail) addText(text, _parent);
      at = here;
      if (!isVoid(tag) && (!image || node)) {
        const kids = kidsOf(el);
        expand(kids, 0, kids.length, el, _depth + !!node, _named, _hand);
      }
      return;
    }
    for (const text of _tail) addText(text, _parent);
  };

  put(top);
  at = first;
  const around = place && place._span && flatParent(el), list = around ? kidsOf(around) : [el], from = list.indexOf(el);
  expand(list, from, around ? min(list.length, from + place._span) : 1, around, 0);
  for (; away <= LAST && !over; away++) {
    stack = stack.concat((queues[away] || []).reverse());
    while (stack[0] && !over) {
      over = refs >= maxNodes ? 'maxNodes' : spent >= budgetChars ? 'budgetChars' : late() && 'jsTime';
      if (!over) walk(stack.pop());
    }
  }

  // The list becomes a tree: words are folded, neighbours that wait become one cut, structure with nothing in it goes.
  const open = [out];
  let words = '', last = {};
  for (at = first; at; at = at._next) {
    const { _is, _el, _i, _parent, _kind } = at, [node] = open, kids = node.children;
    if (_is.trim) {
      words += _is;
      continue;
    }
    const said = fold(words), text = cut(said, maxTextPerNode);
    words = '';
    if (said && said != node.name) kids.push({ role: 'text', text });
    if (said != text) reasons.add('maxTextPerNode');
    if (_el) {
      left = 1;
      if (last._node && kids[kids.length - 1] == last._node && last._parent == _parent && last._kind == _kind) last._node.count++;
      else {
        last = { _parent, _kind, _i, _place: placeRef(_el) };
        kids.push((last._node = { more: last._place.ref, count: 1, role: roleOf(_el, 1), kind: _kind }));
      }
      last._place._span = _i - last._i + 1;
    } else if (_is == node) {
      open.shift();
      delete node.children;
      if (kids.length == 1 && kids[0].role == 'text') node.text = kids[0].text;
      else if (kids[0]) node.children = kids;
      stats.emittedNodes += kids.length;
      if (kids[0] || node.ref || node.frame != null) open[0].children.push(node);
    } else if (_is) open.unshift(_is);
  }
  if (left && over) reasons.add(over);
  stats.hiddenTextRemoved = turn._removed;
  stats.jsTimeMs = now() - start;
  return { version: 1, url: location.href, title: fold(doc.title), timestamp: Date.now(), frameIndex: indexIn(parent, window), tree: top, stats, truncated: !!(left || reasons.size), reasons: [...reasons] };
};
