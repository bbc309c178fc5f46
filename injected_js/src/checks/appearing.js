/** What an action has set in motion: transitions and animations by which something comes, goes or takes its place. */
import { aria, boxOf, doc, findAll, hasWords, isLive, isVoid, kidsOf, kindOf, shadowOf, tagOf, textOf, treeOf } from '../core/dom.js';
import { landing } from './landing.js';

/** Properties that show, hide or move something. */
const SHOWING = /^(opacity|visib|clip|display|(m..)?height|grid)/i;
const MOVING = /^(trans|scale|rotate|(m..)?width|inset|top|left|bottom|right)/i;

/** @type {(root: any) => Animation[]} */
const animationsIn = (root) => {
  // A form may have a field of that name; engines before 84 have no such method.
  const read = (root == doc ? Document : ShadowRoot).prototype.getAnimations;
  return read ? read.call(root) : [];
};

/** The animations of the document and of these shadow roots. @type {(trees?: Iterable<any>) => Animation[]} */
export const animations = (trees = []) => [].concat(...[doc, ...trees].map(animationsIn));

/** Are there words in it, in the flat tree? What has none, such as a ripple, is not waited for. */
const hasContent = (node) => (kindOf(node) == 3 ? hasWords(textOf(node)) : kindOf(node) == 1 && (tagOf(node) == 'input' || (!isVoid(tagOf(node)) && kidsOf(node).some(hasContent))));

/** Does it cover most of the view? Dialogs come after their backdrop. */
const isVeil = (el) => {
  const { width, height } = boxOf(el);
  return width * height > (innerWidth * innerHeight) / 2;
};

/**
 * The elements that an animation shows, hides or moves now, and did not before the action. Endless animations have no
 * end to wait for, and a tapped button that only moves is an answer to the finger.
 * @type {(trees: Iterable<any>, before: Animation[], tapped?: Element) => Element[]}
 */
export const appearing = (trees, before, tapped) => {
  const found = [];
  for (const animation of animations(trees)) {
    const { effect, playState } = /** @type {any} */ (animation), el = effect && effect.target;
    if (!el || effect.pseudoElement || playState == 'finished' || before.includes(animation) || effect.getComputedTiming().endTime == Infinity) continue;
    const isAnswer = tapped && landing(el, tapped) === true;
    const shows = (property) => SHOWING.test(property) || (!isAnswer && MOVING.test(property));
    if (effect.getKeyframes().some((keyframe) => Object.keys(keyframe).some(shows)) && (hasContent(el) || isVeil(el))) found.push(el);
  }
  return found;
};

/** Does the element say that what it opens is open? @type {(el: Element) => boolean} */
export const isOpened = (el) => aria(el, 'expanded') == 'true';

/** So much of what was added is looked at. */
const MOST_ADDED = 300;
/**
 * What was added and is still transparent, and declares how it would change: libraries add it so, and begin the
 * transition some frames or a timer later.
 * @type {(changed: Iterable<any>) => Element[]}
 */
export const due = (changed) =>
  []
    .concat(...[...changed].map((node) => (kindOf(node) == 1 && isLive(node) ? [node, ...findAll(node, '*')] : [])))
    .slice(0, MOST_ADDED)
    .filter((el) => {
      const { opacity, transitionDuration, animationDuration } = getComputedStyle(el);
      return opacity == '0' && (parseFloat(transitionDuration) || parseFloat(animationDuration)) && hasWords(textOf(el));
    });

/** Role and name of what a reader would call the element. @type {(el: Element) => [string, string]} */
export const wordsOfShown = (el) => {
  const { roleOf, nameOf } = __agentBrowser, named = [el, ...findAll(el, '[role],dialog,menu,ul,nav,form')].find((it) => roleOf(it) != 'generic' && roleOf(it) != 'none') || el;
  return [roleOf(named), nameOf(named)];
};

/** The shadow roots that a change of the document concerns. @type {(node: any) => any[]} */
export const treesOf = (node) => [treeOf(node), kindOf(node) == 1 && shadowOf(node)].filter((it) => it && kindOf(it) == 11 && it.host);
