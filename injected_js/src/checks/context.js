/**
 * What a ref means beside role and name: what a person goes by to tell an element from others like it.
 *
 * Elements are alike that have tag and role in common, and the name but for numbers. The item of an element is the
 * largest part of the page that no other like it is in, whatever its markup; its context is all that the item says. Items
 * stand in items (three stops of a tour, each with a "Remove"): what these say beside the inner ones belongs to the
 * context too, up to the list of them all. Where rows have no element of their own, the context is what stands between
 * this element and the next like it, or else beside it. An element like no other has the words of the smallest ancestor
 * that says more than controls do; where that is the whole page, its main part, or a section that says much, those of the
 * heading under which it stands, and in the main part those that stand right before it.
 *
 * Around an element like no other more may be said than before: an answer, a message.
 *
 * Words have to stay, and numbers that are part of names: "Tour 1", and long ones. Other numbers, values, clocks and
 * messages may change where the words tell the element from all that were shown beside it; so may what other controls
 * say, where nothing like it is beside it.
 */
import { aria, attr, boxOf, findAll, fold, hasWords, is, isField, isVoid, kidsOf, kindOf, low, max, parentOf, shadowOf, tagOf, textOf, treeOf } from '../core/dom.js';
import { targetRule } from './targets.js';

/** Bounds for pages of any size: elements that are looked at in one place, ancestors, siblings on either side, characters. */
const MOST_ELEMENTS = 300, MOST_LEVELS = 50, MOST_SIBLINGS = 60, MOST_CHARACTERS = 1e3;
/** So many characters around an element are enough to compare. */
const MOST_HEARD = 4e3;
/** So many characters around an element tell it from others, where any of them can. */
const ENOUGH = 200;
/** An ancestor that says more characters than this is a section rather than an item with one control. */
const MUCH = 300;
/** Banner, complementary, contentinfo, dialog, main, navigation, region, search. */
const LANDMARK = /^(ban|com|conte|dia|main|nav|reg|sear)/;
/** What changes by itself or in answer to something: alert, log, meter, progressbar, status, time, timer. */
const LIVE = /^(al|log|met|pro|stat|tim)/;

/** Text without numbers, punctuation, arrows and icons. */
const letters = (text) => low(text).replace(/[\s\d!-@[-`{-\xbf\u2000-\u2bff\ue000-\uf8ff]+/g, ' ').trim();
/** Without numbers that count: "(3)", "3 left". */
const withoutCounts = (text) => text.replace(/\(\d+\+?\)|\d[\d.,]*(?=\+? (left|new|unread|more|remaining)\b)/g, '#');
/** Numbers that are part of names: "Tour 1", "Room 12", and long ones without a fraction. */
const numbersOf = (text) => '' + text.match(/[^\s\d!-@[-`{-\xbf][ #(.:-]*\d+(?![\d.,:%])|^\d{4,}$/gm);
const isElement = (node) => kindOf(node) == 1;

/** The index of the first of which something is true; it is true of all behind it too. */
const firstWhere = (list, isTrue) => {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isTrue(list[middle])) to = middle;
    else from = middle + 1;
  }
  return from;
};

/** The first elements of this tag in a box. A live collection looks no further than it is asked. */
const firstIn = (box, tag) => {
  const all = isElement(box) ? Element.prototype.getElementsByTagName.call(box, tag) : kindOf(box) == 9 ? Document.prototype.getElementsByTagName.call(box, tag) : box.querySelectorAll(tag), found = [];
  for (let i = 0; i < MOST_ELEMENTS && all[i]; i++) found.push(all[i]);
  return found;
};

/**
 * What a node says; see `said`.
 * @typedef {[string, string, any, any, string, string]} Said
 */

/**
 * @typedef {object} Context
 * @property {string[]} _own role, name and description
 * @property {Said[]} _heard all that is said around it
 * @property {[string, string]} _sort what else counts as it: by tag, role and words of the name
 * @property {any} _isLeaf has no elements in it
 * @property {string[]} [_words] see `wordsOf`
 * @property {string} _item the text of the item with its controls, where there are several items
 * @property {boolean} _isOnly nothing in the document is like it
 * @property {Context[]} _shown what was shown in the same list, itself included
 */
const inLines = (texts) => texts.join('\n').replace(/\s*\n\s*/g, '\n').trim();
/** All that is said around it, in lines; with role, name and description. @type {(context: Context) => string} */
export const around = ({ _heard }) => inLines(_heard.map((it) => it[0]));
const everything = (context) => inLines([...context._own, around(context)]);
/** The numbers around it that stay. @type {(context: Context) => string} */
const numbersAround = ({ _heard }) => numbersOf(_heard.map((it) => it[4]).join('\n'));
/** The words around it that stay, and the numbers. @type {(context: Context) => string} */
const telling = (context) => letters(context._heard.map((it) => it[1]).join(' ')) + numbersAround(context);
/**
 * The words that stay; and those with the words of controls, clocks and messages. A snapshot reads hundreds of contexts,
 * and few are ever compared: they are put together when they are asked for.
 * @type {(context: Context) => string[]}
 */
const wordsOf = (context) => {
  const { _own: [role, own, tells], _heard: heard, _isLeaf: isLeaf } = context;
  return (context._words = context._words || [1, 5].map((which) => fold([role, isLeaf ? withoutCounts(own) : letters(own), letters(tells), letters(heard.map((it) => it[which]).join(' '))].join(' '))));
};
/** Was something shown beside it with the same words of this kind? */
const hasTwin = (context, kind) => context._shown.some((it) => it != context && wordsOf(it)[kind] == wordsOf(context)[kind]);

/** What elements were shown as last. @type {WeakMap<any, Context>} */
const shownContexts = new WeakMap();
/** @type {(el: any) => Context | undefined} */
export const shownContext = (el) => shownContexts.get(el);

/** Are these lines among those, in their order? */
const areAmong = (lines, those, at = 0) => {
  for (const line of those) at += +(line == lines[at]);
  return at >= lines.length;
};

const hasSameLines = (then, now) => '' + then._own == '' + now._own && then._heard.length == now._heard.length && then._heard.every((it, i) => it[0] == now._heard[i][0]);

const linesAround = (context) => around(context).split('\n').filter((it) => it);

/** Has an element that nothing is like kept all that was said around it, where more is said now, such as an answer? */
const isSaidStill = (then, now) => then._isOnly && now._isOnly && '' + then._own == '' + now._own && hasWords(around(then)) && areAmong(linesAround(then), linesAround(now));

/** Does it mean the same? @type {(then: Context, now: Context) => any} */
const isSame = (then, now) =>
  (!now._item || letters(then._item) == letters(now._item)) &&
  (hasSameLines(then, now) || everything(then) == everything(now) || isSaidStill(then, now) || (numbersAround(then) == numbersAround(now) && wordsOf(then).some((words, i) => words == wordsOf(now)[i] && !hasTwin(then, i))));

/**
 * Does this element mean what another, or itself, was shown as, after the page has answered to a finger on it? The answer
 * may say more around it, and rename it where the words around it tell it from all that is like it.
 * @type {(el: any, then: Context) => any}
 */
export let isAnswered;

/**
 * The rules, for core/refs.js and core/snapshot.js, of what the first file gives: how a context is read, whether two are
 * the same, and what is a target (targets.js).
 * @type {(once: any, identify: any, roleOf: any, isInteractive: any, valueOf: any, authorName: any, descriptionOf: any, styleOf: any, isUnseen: any, isAbsent: any) => any[]}
 */
export const contextRule = (once, identify, roleOf, isInteractive, valueOf, authorName, descriptionOf, styleOf, isUnseen, isAbsent) => {
  const childrenOf = once(kidsOf);
  const boxIn = once(boxOf);
  const rawOf = once(textOf);
  /** The text of an item, without what a person writes in it. */
  const itemText = once((item) => findAll(item, '[contenteditable]').reduce((text, it) => text.replace(textOf(it), ''), rawOf(item)));
  const idsOfMessages = once((root) => {
    const ids = new Set();
    for (const tag of ['input', 'select', 'textarea'])
      for (const it of firstIn(root, tag)) for (const id of `${aria(it, 'describedby')} ${aria(it, 'errormessage')}`.split(/\s+/)) ids.add(id);
    return ids;
  });
  /** Does a field name it as its description or its error message? Then it is a message of that field. */
  const describesField = (el, id = attr(el, 'id')) => id && idsOfMessages(treeOf(el)).has(id);
  /** Headings of each kind, in document order. One selector for all of them takes the engine seven times as long. */
  const headingsIn = once((box) => [...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [...Element.prototype.getElementsByTagName.call(box, tag)]), findAll(box, '[role=heading]')]);
  const isBehind = (el, other) => Node.prototype.compareDocumentPosition.call(el, other) & 4;
  const headingBefore = (el, box) => {
    let last;
    for (const headings of headingsIn(box)) {
      const heading = headings[firstWhere(headings, (it) => !isBehind(it, el)) - 1];
      if (heading && (!last || isBehind(last, heading))) last = heading;
    }
    return last;
  };
  const isLeaf = once((el) => isField(el) || !childrenOf(el).some(isElement));
  const isActive = (el) => isField(el) || isInteractive(el);
  /** Its name, where that is what the author or its content says, without asking what of it can be seen: many are compared. */
  const labelOf = (el, role) =>
    isField(el) || is(tagOf(el), 'fieldset figure svg table') ? identify(el).name
    : authorName(el) || (isLeaf(el) || role == 'heading' || isInteractive(el) ? attr(el, 'alt') || textOf(el) + (isLeaf(el) ? '' : findAll(el, '[alt]').map((it) => attr(it, 'alt'))) : '');
  const likeOf = once((el, role = roleOf(el)) => role + letters(role == 'generic' && !isLeaf(el) ? '' : labelOf(el, role)));
  /** What else counts as it: by tag, role and words of the name. @type {(el: any) => [string, string]} */
  const sortOf = (el) => [tagOf(el), likeOf(el)];

  /** How many in a box are of this sort; without a key, all of this tag. */
  const censusOf = once(() => ({}));
  const countIn = (box, [tag, key], census = censusOf(box), by = census[tag]) => {
    if (!by) {
      by = census[tag] = {};
      for (const it of firstIn(box, tag)) for (const key of [likeOf(it), '']) by[key] = -~by[key];
    }
    return by[key] | 0;
  };
  const countAll = (el, sort = sortOf(el), root = treeOf(el)) => countIn(kindOf(root) == 11 ? root : document.documentElement, sort);

  /**
   * What one node says itself, and the nodes in it that have to be heard too. A control that is in every row tells nothing,
   * and neither does what only looks like one.
   * @typedef {object} Saying
   * @property {string} _text folded
   * @property {any} _stays as opposed to what controls, clocks and messages say
   * @property {any} _tells may tell it from others
   * @property {any} [_isLink]
   * @property {any} [_isMessage]
   * @type {(node: any) => [Saying[], any[]]}
   */
  const partOf = once((it) => {
    const sayings = [];
    const say = (text, _stays, _tells, _isLink, _isMessage) => (text = fold(text)) && sayings.push({ _text: text, _stays, _tells, _isLink, _isMessage });
    if (kindOf(it) == 3) say(it.data, 1, 1);
    if (!isElement(it)) return [sayings, []];
    const tag = tagOf(it), role = roleOf(it), isLink = role == 'link', isMessage = LIVE.test(role) || describesField(it), isControl = isActive(it);
    const isCommon = (isControl || (isLeaf(it) && getComputedStyle(it).cursor == 'pointer')) && countAll(it) > 1, isSilent = isControl && isCommon;
    if (is(tag, 'input select textarea')) say(valueOf(it) || '', 0, 1);
    if (!isSilent) say(`${authorName(it) || ''} ${attr(it, 'alt')}`, !isControl, 1);
    if (!isControl && !isCommon && !isVoid(tag) && !isMessage) return [sayings, childrenOf(it).slice(0, MOST_ELEMENTS)];
    if (!isSilent && !isField(it) && !is(tag, 'script style')) say(rawOf(it), isLink || (!isControl && isCommon), isControl, isLink, isMessage);
    return [sayings, []];
  });

  /**
   * Of a node: its text, labels and values, in lines; those of them that stay, not those of controls, clocks and messages;
   * whether anything may tell it from others; whether it has words that are no link's; all but messages, in lines; all
   * that has words.
   * @type {(node: any) => Said}
   */
  const said = once((node) => {
    const todo = [node];
    let all = '', staying = '', lasting = '', doesTell, isPlain;
    for (const it of todo) {
      const [sayings, kids] = partOf(it);
      for (const { _text, _stays, _tells, _isLink, _isMessage } of sayings) {
        all += _text + '\n';
        if (!_isMessage) lasting += _text + '\n';
        if (_stays) staying += _text + ' ';
        doesTell = doesTell || _tells;
        isPlain = isPlain || (_stays && !_isLink && letters(_text));
      }
      if (todo.length < MOST_ELEMENTS) todo.push(...kids);
      if (staying.length > MOST_CHARACTERS && lasting.length > MOST_CHARACTERS) break;
    }
    all = all.slice(0, MOST_CHARACTERS);
    return [all, staying.slice(0, MOST_CHARACTERS), doesTell, isPlain, lasting.slice(0, MOST_CHARACTERS), all];
  });

  /** What stands in a box by itself, each with the middle of its height and its height, from the top down. */
  const partsIn = once((box) =>
    firstIn(box, '*')
      .filter((it) => isLeaf(it) || authorName(it))
      .map((it, i, all, { top, height } = boxIn(it)) => [it, top + height / 2, height])
      .sort((a, b) => a[1] - b[1]),
  );

  /** Is a child of a list, or does it hold, an element of that sort? */
  const knownHolds = once(() => ({}));
  const holds = (kid, sort, known = knownHolds(kid), key = sort[0] + sort[1]) => {
    if (known[key] == null) known[key] = isElement(kid) && ((tagOf(kid) == sort[0] && (!sort[1] || likeOf(kid) == sort[1])) || countIn(kid, sort) > 0);
    return known[key];
  };

  /** What was shown in this call, by the list in which it stands. */
  const shownIn = once(() => []);

  const read = (el, isShown) => {
    const { role, name } = identify(el), own = low(name), tells = descriptionOf(el, name) || '';
    let /** @type {Said[]} */ heard = [], sort = sortOf(el), total = countAll(el), path = el, count = 1, characters = 0, doesTell, isPlain, box, list, item;
    const add = (/** @type {Said} */ it) => {
      heard.push(it);
      characters += it[0].length;
      doesTell = doesTell || it[2];
      isPlain = isPlain || it[3];
    };
    /** Hears what stands before and behind, the nearest first. */
    const hear = (before, behind = []) => {
      let from = before.length, to = 0, size = characters;
      for (let isBehind = 0; size < MOST_HEARD && (from || to < behind.length); isBehind = 1 - isBehind) {
        const node = isBehind ? behind[to] : before[from - 1];
        if (!node) continue;
        isBehind ? to++ : from--;
        size += said(node)[0].length;
      }
      for (const node of [...before.slice(from), ...behind.slice(0, to)]) add(said(node));
    };
    const hearAround = (nodes, path, isWanted = (_) => true, at = nodes.indexOf(path) + 1) => hear(nodes.slice(0, at && at - 1).filter(isWanted), nodes.slice(at).filter(isWanted));
    const hearLabel = (label = authorName(box)) => label && add([label, label, label, label, label, label]);
    // A field like no other has its name from what is around it, and changes what is around it.
    for (let levels = total == 1 && isField(el) && valueOf(el) != null ? 0 : MOST_LEVELS; levels-- && (box = parentOf(path)) && kindOf(box) != 9; path = box) {
      if (kindOf(box) == 11) {
        // From here on the host stands for it.
        box = box.host;
        hearAround(childrenOf(box), path);
        hearLabel();
        sort = [tagOf(box), ''];
        total = countAll(box, sort);
        count = 1;
        continue;
      }
      const more = countIn(box, sort), all = more > count && shadowOf(box) ? findAll(box, ':scope>*') : childrenOf(box), place = all.indexOf(path);
      const kids = all.slice(place > MOST_SIBLINGS ? place - MOST_SIBLINGS : 0, place + MOST_SIBLINGS);
      if (more > count) {
        list = box;
        if (!item || rawOf(item) == rawOf(el)) item = path;
        if (!doesTell || more < total) {
          if (doesTell) hearAround(kids, path, (kid) => !holds(kid, sort));
          else {
            const at = kids.indexOf(path), places = [], gaps = [0];
            // What tells before the first of them, between each and the next, and behind the last.
            kids.forEach((kid, i) => {
              if (holds(kid, sort)) gaps[places.push(i)] = 0;
              else if (said(kid)[2]) gaps[places.length] = 1;
            });
            const i = places.indexOf(at), leads = gaps[0], trails = gaps[places.length], isBoth = leads == trails;
            if (gaps.slice(1, -1).every((tells) => tells))
              hear(leads || isBoth ? kids.slice(i ? places[i - 1] + 1 : 0, at) : [], trails || isBoth ? kids.slice(at + 1, places[i + 1]) : []);
          }
        }
        if (more >= total) break;
        count = more;
      } else hearAround(kids, path);
      hearLabel();
      if ((total < 2 && isPlain) || (doesTell && characters > ENOUGH) || LANDMARK.test(roleOf(box))) break;
    }
    if (total < 2 && !list && box) {
      const isPage = kindOf(box) == 9 || is(tagOf(box), 'html body'), isMain = !isPage && roleOf(box) == 'main';
      if (isPage || isMain || characters > MUCH) {
        const heading = headingBefore(el, isPage ? document.documentElement : box), kids = isMain ? childrenOf(box) : [];
        const leading = kids.slice(0, max(kids.indexOf(path), 0)).reverse().slice(0, MOST_SIBLINGS).find((kid) => said(kid)[3]);
        if (isPage || heading || role == 'heading') heard = [heading, leading].filter((it) => it).map(said);
      }
    }
    // Rows without an element that say nothing before or behind their controls: what stands beside them.
    if (list && !doesTell) {
      const { top, bottom } = boxIn(path);
      for (let at = list, levels = 3; isElement(at) && levels-- && !doesTell; at = parentOf(at)) {
        const parts = partsIn(at);
        for (let i = firstWhere(parts, (it) => it[1] >= top); i < parts.length && parts[i][1] <= bottom; i++) if (parts[i][2] <= bottom - top) add(said(parts[i][0]));
      }
      if (!doesTell) hear([parentOf(list)]);
    }
    if (!isActive(el)) hear([el]);
    const context = {
      _own: [role, own, tells],
      _heard: heard,
      _sort: sort,
      _isLeaf: isLeaf(el),
      _item: item ? itemText(item) : '',
      _isOnly: total < 2 && !list,
      _shown: isShown && list ? shownIn(list) : [],
    };
    if (isShown) {
      shownContexts.set(el, context);
      context._shown.push(context);
    }
    return context;
  };
  isAnswered = (el, then) => {
    const now = read(el), tells = telling(then);
    if (isSame(then, now)) return true;
    if (now._own[0] != then._own[0] || !areAmong(linesAround(then), linesAround(now))) return false;
    if ('' + now._own == '' + then._own) return true;
    const others = firstIn(treeOf(el), then._sort[0]).filter((it) => it != el && likeOf(it) == then._sort[1]);
    return others[0] && hasWords(tells) && !others.some((it) => telling(read(it)) == tells);
  };
  return [read, isSame, ...targetRule(once, identify, roleOf, isInteractive, valueOf, authorName, styleOf, isUnseen, isAbsent)];
};
