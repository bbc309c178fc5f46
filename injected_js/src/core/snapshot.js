/**
 * The snapshot: a walk of the flat tree that spends its budget where a person looks.
 *
 * Elements wait in queues by how many screens they are away (what repeats: one more) and are walked while there is
 * budget: of nodes, characters and elements asked, so that the same page gives the same text on a busy machine. Time is
 * only a fuse. All they give goes into one linked list in document order; what was not walked stands in it as it is and
 * becomes a cut that says how to go on. Nothing recurses and every element is seen once: pages may be 20,000 deep.
 */
import { assign, attr, cut, doc, findAll, flatParent, fold, is, hasWords, isField, isVoid, kidsOf, kindOf, labelsOf, matches, now, own, rootOf, shadowOf, tagOf, textOf } from './dom.js';
import { CONTENT, INTERACTIVE, CHILDREN_PRESENTATIONAL, ROLE_TRAITS, SAID_BY_NAME, TRANSPARENT } from './role_table.js';
import { isControl, roleOf } from './roles.js';
import { authorName, descriptionOf } from './names.js';
import { attrsOf } from './states.js';
import { identify, rule } from './context.js';
import { clearStamps, cutAt, introduce, meanings, resolve } from './refs.js';
import { isSeen } from './actionability.js';
import { boxIn, isAbsent, isAriaHidden, isGone, isInkless, isInline, isOut, isUnseen, isVisible, styleOf } from './visibility.js';
import { counts } from './call_cache.js';



/**
 * A place in the list.
 * @typedef {object} Mark
 * @property {string | object | 0} _is words; a node, where it opens and again where it closes; 0: an edge between words
 * @property {Mark} [_next]
 * @property {Node} [_el] not walked yet
 * @property {DOMRect} [_box]
 * @property {number} [_i] its place among its siblings
 * @property {"cut" | "alike"} [_kind]
 * @property {{_parent?: Element, _named?: any, _hand?: any, _veiled?: any}} [_up] what its siblings share: a name says the text in here, so
 * only controls count; the parent already counts as clickable; `aria-hidden` is on something around it
 * @property {object} [_node] the cut that begins here
 * @property {import('./refs.js').Meaning} [_place] and what its number means
 */

/** So many elements are asked in any case: a renderer that gets no processor has used its time up without doing anything. */
const ALWAYS_ASKED = 500;
/** So many elements may be asked for each node that may be sent. */
const VISITS_PER_NODE = 20;

/** Can anything in it be a control? A control that says its words in its name is not walked for less. @type {(el: Element) => any} */
const holdsControls = (el) => shadowOf(el) || findAll(el, '*').some((it) => shadowOf(it) || isControl(it) || matches(it, 'slot,[contenteditable],[tabindex],[onclick]'));

export const snapshot = ({ maxNodes = 500, maxTextPerNode = 200, maxAttrValueLen = 150, interactiveOnly = true, cursorInteractive, clickHandlers, budgetChars = 8e4, timeBudgetMs = 2e3, scope, extra, ariaHidden } = /** @type {any} */ ({})) => {
  const start = now(), { _el: origin, _span } = meanings.has(scope) ? resolve(scope, 1) : { _el: scope ? findAll(rootOf(), scope)[0] : rootOf() };
  if (!origin) return resolve(scope);
  clearStamps();

  const reasons = [], tree = { role: 'document', children: [] }, queues = [], first = /** @type {any} */ ({ _is: tree, _next: { _is: tree } }), isLate = (asked) => asked > ALWAYS_ASKED && now() - start > timeBudgetMs && (slow = 'jsTime');
  let away = 0, stack = [], spent = 0, refs = 0, line = 0, visitedNodes = 0, emittedNodes = 0, skippedHidden = 0, hiddenFromAssistive = 0, at = first, over, slow, left, none;

  /** Adds to the list; what counts is weighed as it goes over the wire, in UTF-8 (3 bytes for what may be 2). */
  const put = (_is, counts) => {
    if (counts) spent += JSON.stringify(_is).replace(/[^\0-\x7f]/g, '   ').length + 9;
    line = _is.trim ? line + _is.length : 0;
    at = at._next = { _is, _next: at._next };
  };

  const expand = (list, _up) => {
    const ready = [];
    let screens = 0, _i = 0, like, alike;
    for (const _el of list) {
      _i++;
      const kind = kindOf(_el);
      if (kind == 3 ? !_up._named : kind == 1) {
        const mark = { _is: '', _next: at._next, _el, _i, _up };
        at = at._next = mark;
        // Words are as far away as what they follow.
        if (kind < 3) {
          const key = tagOf(_el) + attr(_el, 'class');
          alike = key == like ? alike + 1 : 1;
          like = key;
          // So many of those that look alike are walked like others.
          const many = alike > 8;
          mark._kind = many ? 'alike' : 'cut';
          screens = -1;
          if (!isLate(visitedNodes + _i) && !(many && tagOf(_el) == 'option')) {
            const box = (mark._box = boxIn(_el));
            screens = box.width * box.height ? +many + Math.ceil(Math.max(box.top - innerHeight, -box.bottom, box.left - innerWidth, 0) / innerHeight) : 0;
          }
        }
        if (screens > away) (queues[screens] = queues[screens] || []).push(mark);
        else if (screens >= 0) ready.push(mark);
      }
    }
    while (ready[0]) stack.push(ready.pop());
  };

  const addText = ({ data }, parent) => {
    const piece = data.slice(0, maxTextPerNode * 2), says = hasWords(piece);
    if (says && isInkless(parent)) counts._hiddenTexts++;
    else if (line < maxTextPerNode * 2) put(says ? piece : ' ', says);
  };

  const walk = (mark) => {
    const { _el: el, _box: box, _up } = mark;
    let { _named, _hand, _veiled } = _up, node, kind;
    at = mark;
    mark._el = 0;
    if (!box) return addText(el, _up._parent);
    line = 0;
    visitedNodes++;
    const tag = tagOf(el), gone = ariaHidden ? isAbsent(el) : isGone(el);
    if (gone && !isAbsent(el) && !isUnseen(el, box)) hiddenFromAssistive += findAll(el, '*').concat(el).filter((it) => isControl(it) && isSeen(it)).length;
    _veiled = _veiled || isAriaHidden(el);
    // A control out of sight is used through its label, or by a tap that still lands on it.
    const unseen = !gone && isUnseen(el, box) && !(isField(el) && (box.width > 4 || labelsOf(el).some((it) => isSeen(it)))), worn = unseen && rule[2](el);
    if (gone || (unseen && !worn)) {
      if (!gone && hasWords(textOf(el))) counts._hiddenTexts++;
      return skippedHidden++;
    }
    const role = roleOf(el), flags = ROLE_TRAITS[role], visible = isVisible(el) && (!isOut(el) || isField(el)), active = visible && flags & INTERACTIVE, edge = tag == 'br' || !isInline(el), image = role == 'img';
    if (cursorInteractive && visible) {
      const hand = styleOf(el).cursor == 'pointer';
      if (!active && !is(tag, 'html body label option'))
        kind = matches(el, '[contenteditable]:read-write') ? 'editable' : (hand && !_hand && !_named) || matches(el, '[onclick]') || (IS_STANDALONE && own(el, 'onclick')) ? 'clickable' : attr(el, 'tabindex') >= '0' ? 'focusable' : none;
      kind = rule[3](el, active, kind, hand, clickHandlers);
      _hand = hand && (_hand || active || kind != none);
    }
    // What a control's label says is the control's name.
    if (worn || (tag == 'label' && el.control && !isGone(el.control))) _named = 1;
    if (edge) put(0);
    if (visible && (kind || active || !(flags & TRANSPARENT || _named))) {
      const known = identify(el), { name } = known, { _hiddenTexts } = counts, shown = active || kind || (flags & CONTENT && (name || !interactiveOnly));
      if (shown || !image) {
        // What is undefined is not in the JSON.
        node = assign(
          {
          role,
          tag,
          name: cut(name, maxTextPerNode) || none,
          attrs: attrsOf(el, role, maxAttrValueLen, interactiveOnly, _veiled),
          ref: shown ? introduce(el) : none,
          description: (active && cut(descriptionOf(el, name), maxTextPerNode)) || none,
          cursorInteractive: kind || none,
          },
          extra && extra(el, box),
        );
        // What a ref means is read from names around it, which are counted where they are shown.
        counts._hiddenTexts = _hiddenTexts;
        refs += +!!shown;
        put(node, 1);
        node.children = [];
        if (tag != 'select') _named = flags & CHILDREN_PRESENTATIONAL || (name && flags & SAID_BY_NAME && !(kind && authorName(el))) || _named;
      }
    }
    // In document order: what comes behind the children is in the list before they are.
    const here = at, kids = isVoid(tag) || (active ? _named && !_up._named && !holdsControls(el) : image && !node) ? [] : kidsOf(el);
    if (node) put(node);
    if (edge) put(0);
    at = here;
    expand(kids, { _parent: el, _named, _hand, _veiled });
  };

  const _parent = _span && flatParent(origin), list = _parent ? kidsOf(_parent) : [origin], from = list.indexOf(origin);
  expand(list.slice(from, from + _span || 1), { _parent });
  for (; !over && stack; stack = away++ < queues.length && (queues[away] || []).reverse())
    while (stack[0] && !over) {
      over = refs >= maxNodes || visitedNodes >= maxNodes * VISITS_PER_NODE ? 'maxNodes' : spent >= budgetChars ? 'budgetChars' : isLate(visitedNodes);
      if (!over) walk(stack.pop());
    }

  // The list becomes a tree: words are folded, neighbours that wait become one cut, structure with nothing in it goes.
  const open = [{ children: [] }];
  let words = '', last = {};
  for (at = first; at; at = at._next) {
    const { _is, _el, _i, _up, _kind } = at, [node] = open, kids = node.children;
    if (_el) left = 1;
    if (_el ? !_kind : _is.trim) {
      words += _is;
      continue;
    }
    const said = fold(words), text = cut(said, maxTextPerNode);
    words = '';
    if (said && said != node.name) kids.push({ role: 'text', text });
    if (said != text) reasons[0] = 'maxTextPerNode';
    if (_el) {
      if (kids[kids.length - 1] != last._node || last._up != _up || last._kind != _kind) {
        last = at;
        at._place = cutAt(_el); // to go on from
        kids.push((at._node = { more: at._place.ref, count: 0, role: roleOf(_el), kind: _kind }));
      }
      last._node.count++;
      last._place._span = _i - last._i + 1;
    } else if (_is == node) {
      open.shift();
      const [kid, other] = kids, lone = kid && !other && kid.role == 'text';
      if (lone) node.text = kid.text;
      node.children = kid && !lone ? kids : none;
      emittedNodes += kids.length;
      if (kid || node.ref || node.tag == 'iframe') open[0].children.push(node);
    } else if (_is) open.unshift(_is);
  }
  if (left && (over = over || slow)) reasons.push(over);
  return {
    url: location.href,
    title: doc.title,
    tree,
    stats: { domNodes: doc.all.length, visitedNodes, emittedNodes, skippedHidden, hiddenFromAssistive, hiddenTextRemoved: counts._hiddenTexts, jsTimeMs: now() - start },
    truncated: !!(left || reasons[0]),
    reasons,
  };
};
