/**
 * Which elements are targets of a finger, beside those whose role says so.
 *
 * A control and the wrapper that a design system puts around it are one target, told by the control: the wrapper has no
 * other control, and says no more than this one's name and value. What such a wrapper shows stands for a control that
 * cannot be seen, and may lie over it.
 *
 * A part of the page whose cursor or handler is there for several children that differ from each other is no target, and
 * they are.
 */
import { aria, attr, boxOf, flatParent, fold, hasWords, holds, is, isVoid, kidsOf, kindOf, low, matches, parentOf, tagOf, textOf } from '../core/dom.js';

/** Bounds for pages of any size. */
const MOST_INSIDE = 120, MOST_LEVELS = 8, MOST_ITEMS = 400;
/** A picture of so many square pixels says something of its own; a smaller one is an icon of the control. */
const PICTURE_AREA = 1600;
/** A control that fills so much of a box is what a finger on the box reaches. */
const FILLING = 0.6;
/** So few characters are a key's: of a calendar, a keypad, a plan of seats. */
const KEY_CHARS = 3;
/** What shows the value of a control of these roles need not be its name. */
const HOLDS_VALUE = /^(combobox|listbox|searchbox|slider|spinbutton|textbox)$/;
/** One of many by its role, and so one target. */
const ITEM = /^(article|cell|columnheader|figure|gridcell|heading|listitem|option|row|rowheader|treeitem)$/;
const COLLECTION = /^(grid|group|list|listbox|menu|menubar|radiogroup|rowgroup|table|tablist|toolbar|tree|treegrid)$/;
/** Of composite widgets, in which one element after the other has the focus. */
const ROVING = /^(columnheader|gridcell|row|rowheader)$/;
const PICTURES = 'img svg canvas video picture';

const area = ({ width, height }) => width * height;
const isElement = (node) => kindOf(node) == 1;
const letters = (text) => low(text).replace(/[\s!-/:-@[-`{-~\xa0-\xbf\u2000-\u2bff\ue000-\uf8ff]+/g, '');

/**
 * The wrapper of a control, as large as it gets, or nothing.
 * @type {(control: any) => any}
 */
export let wrapperOf = () => undefined;

/**
 * The rule, for core/snapshot.js, of what the first file gives: whether something that cannot be seen is shown all the
 * same, and what makes an element a target: "" for one that is told by what is in it, undefined for none.
 */
export const targetRule = (once, identify, roleOf, isInteractive, valueOf, authorName, styleOf, isUnseen, isAbsent) => {
  const elementsIn = (el) => kidsOf(el).filter((it) => isElement(it) && !isVoid(tagOf(it)) && !isAbsent(it)).slice(0, MOST_ITEMS);
  /** Can it not be seen, or nothing of what it is in? */
  const isHidden = once((el, levels = 0) => {
    for (let at = el; at && levels++ < MOST_LEVELS; at = flatParent(at)) if (isUnseen(at)) return 1;
  });
  /** The controls in an element, and the words and pictures beside them; too much of it counts as many controls. */
  const insideOf = once((root) => {
    const controls = [], texts = [], pictures = [], todo = [...kidsOf(root)];
    for (let i = 0; i < todo.length; i++) {
      const it = todo[i], tag = isElement(it) && tagOf(it);
      if (i > MOST_INSIDE) return { _controls: [1, 1], _texts: texts, _pictures: pictures };
      if (kindOf(it) == 3 && hasWords(it.data)) texts.push(it.data);
      if (!tag || isAbsent(it) || matches(it, '[aria-hidden=true]')) continue;
      if (isInteractive(it)) controls.push(it);
      else if (is(tag, PICTURES)) pictures.push(it);
      else if (!isVoid(tag)) todo.push(...kidsOf(it));
    }
    return { _controls: controls, _texts: texts, _pictures: pictures };
  });
  /** Does a box say no more than the one control in it? */
  const isToldBy = (box, control) => {
    const { _controls: [first, other], _texts: texts, _pictures: pictures } = insideOf(box), size = area(boxOf(control));
    if (first != control || other) return;
    if (isHidden(control) ? size >= FILLING * area(boxOf(box)) || HOLDS_VALUE.test(roleOf(control)) : 0) return 1;
    const own = letters([identify(control).name, valueOf(control) || '', aria(control, 'valuenow'), aria(control, 'valuetext'), control.value].join(' '));
    return [...texts, authorName(box) || ''].every((text) => own.includes(letters(text))) && pictures.every((it) => area(boxOf(it)) < PICTURE_AREA);
  };
  /** What a page makes of several elements, or shows as one that can be tapped. */
  const isWhole = (el, control) => tagOf(el).includes('-') || tagOf(el) == 'label' || styleOf(el).cursor == 'pointer' || (isHidden(control) && (area(boxOf(control)) >= FILLING * area(boxOf(el)) || elementsIn(el).some((it) => styleOf(it).cursor == 'pointer')));
  const found = once((control) => {
    let best;
    for (let at = flatParent(control), levels = MOST_LEVELS; at && levels-- && !is(tagOf(at), 'body html form') && isToldBy(at, control); at = flatParent(at)) if (isWhole(at, control)) best = at;
    return best;
  });
  wrapperOf = (control) => (isInteractive(control) ? found(control) : undefined);

  const isShownAt = (el) => el && area(boxOf(el)) > 16 && styleOf(el).visibility == 'visible' && !isUnseen(el);
  const isWorn = (el, [control, other] = isInteractive(el) ? [el] : insideOf(el)._controls) => control && !other && isShownAt(found(control));

  const wordsOf = (el) => fold(textOf(el)) || authorName(el) || attr(el, 'alt');
  const isAlike = (one, other) => tagOf(one) == tagOf(other) && attr(one, 'class').split(' ')[0] == attr(other, 'class').split(' ')[0];
  /** The first elements in one that are several, and in what they stand. */
  const fanOf = (el, kids = elementsIn(el), levels = MOST_LEVELS) => (kids.length == 1 && levels ? fanOf(kids[0], undefined, levels - 1) : [el, kids]);
  const areKeys = (items) => items.length > 2 && items.every((it) => isAlike(it, items[0]) && wordsOf(it).length <= KEY_CHARS && hasWords(wordsOf(it)));
  /** Those in an element that are targets instead of it. */
  const partsOf = once((el) => {
    if (ITEM.test(roleOf(el))) return [];
    const [box, kids] = fanOf(el), rows = kids.map((it) => fanOf(it)[1]);
    if (kids[1] && rows.filter(areKeys).length > kids.length / 2) return [].concat(...rows.filter(areKeys));
    if (areKeys(kids)) return kids;
    const parent = parentOf(el), isItem = parent && isElement(parent) && elementsIn(parent).some((it) => it != el && isAlike(it, el) && styleOf(it).cursor == styleOf(el).cursor);
    const items = kids.filter((it) => isAlike(it, kids[0]) && hasWords(wordsOf(it))), isList = COLLECTION.test(roleOf(box)) || kids.every((it) => ITEM.test(roleOf(it)));
    const areRich = items.every((it) => elementsIn(it).length > 1);
    const isMany = items.length > 1 && items.length * 3 > kids.length * 2 && new Set(items.map(wordsOf)).size == items.length;
    return isMany && (isList || (!isItem && (areRich || (items.length > 2 && styleOf(items[0]).display[0] != 'i')))) ? items : [];
  });
  /** In what each part stands. */
  const wholes = new WeakMap();

  const isRoving = (el) => attr(el, 'tabindex') < '0' && attr(el, 'tabindex') && (ROVING.test(roleOf(el)) || [el.previousElementSibling, el.nextElementSibling].some((it) => it && tagOf(it) == tagOf(el) && it.parentNode.querySelector(`:scope>${CSS.escape(tagOf(el))}[tabindex="0"]`)));
  /** An icon that has a name, in something else that can be tapped. */
  const isNamedIcon = (el, name = roleOf(el) == 'generic' && letters(authorName(el)), text = letters(textOf(el))) => name && !(text && name.includes(text)) && area(boxOf(el)) < 2 * PICTURE_AREA;

  const targetOf = (el, active, kind, hand, clickHandlers) => {
    const whole = wholes.get(el);
    if (active) return kind;
    if (clickHandlers && kind != 'editable' && self.__agentBrowser.handled.has(el) && !is(tagOf(el), 'html body label option')) kind = 'clickable';
    if (!kind && whole && partsOf(whole).includes(el)) kind = 'clickable';
    if (!kind && isRoving(el)) kind = 'focusable';
    if (!kind && hand && isNamedIcon(el)) kind = 'clickable';
    if (!kind || kind == 'editable') return kind;
    // What stands beside a control that cannot be seen shows it.
    const box = insideOf(el)._controls[0] ? el : flatParent(el), [control, other] = insideOf(box)._controls;
    if (control && !other && (box == el || (isHidden(control) && holds(found(control) || el, box))) && isToldBy(box, control) && (isShownAt(control) || isWorn(control))) return '';
    const parts = kind == 'clickable' && (!whole || styleOf(el).cursor != 'pointer') ? partsOf(el) : [];
    for (const part of parts) wholes.set(part, el);
    return parts[0] ? '' : kind;
  };
  return [isWorn, targetOf];
};
