/** What gestures need of the page: context menus, drag and drop, scrolling. */
import { assign, boxOf, flatParent } from '../core/dom.js';
import { hitAt } from '../checks/landing.js';
import { keepTap } from '../checks/guard.js';
import { pause } from '../checks/pause.js';

let hasMenu, isCancelled;
const ONCE = { capture: true, once: true };
const FROM_INPUT = { bubbles: true, cancelable: true, composed: true };

const centreOf = (el) => {
  const { left, top, width, height } = boxOf(el);
  return { clientX: left + width / 2, clientY: top + height / 2 };
};

/** Is the node in the element, in the flat tree? */
const isWithin = (node, el) => {
  while (node && node != el) node = flatParent(node);
  return !!node;
};

/** Notes whether the engine makes a context menu of the long press that follows. */
export const watchMenu = () => {
  hasMenu = 0;
  addEventListener('contextmenu', () => (hasMenu = 1), ONCE);
};

/**
 * Who has opened the context menu of a long press. Where the engine knows none by touch (a desktop Chromium), the page
 * gets the event that a phone would send, and the tap that a phone would not send is kept from it.
 * @type {(ref: string) => "engine" | "script" | {error: object}}
 */
export const openMenu = (ref) => {
  const el = __agentBrowser.element(ref);
  if (!el.nodeType) return el;
  if (hasMenu) return 'engine';
  const at = centreOf(el), hit = hitAt(at.clientX, at.clientY, document);
  (isWithin(hit, el) ? hit : el).dispatchEvent(new PointerEvent('contextmenu', assign({ pointerType: 'touch', isPrimary: true }, FROM_INPUT, at)));
  keepTap();
  return 'script';
};

/** Is it dragged by HTML drag and drop? Also watches whether the browser takes the movement for scrolling. */
export const watchDrag = (el) => {
  isCancelled = false;
  addEventListener('pointercancel', () => (isCancelled = true), ONCE);
  return !!el && !!el.closest('[draggable=true]');
};
/** @type {() => boolean} */
export const wasDragCancelled = () => isCancelled;

/** The element's box and the part of the viewport that is seen: left, top, width, height. */
export const boxInView = (el) => {
  if (!el) return null;
  const box = boxOf(el), view = visualViewport;
  return { box: [box.left, box.top, box.width, box.height], seen: [view.offsetLeft, view.offsetTop, view.width, view.height] };
};

/**
 * Drag and drop as in HTML §6.11, which begins by mouse only: its events are sent by script, with one DataTransfer for
 * all. Returns why nothing was dropped, "" when it was.
 * @type {(el: Element, goal: Element) => Promise<string>}
 */
export const dragAndDrop = async (el, goal) => {
  const source = el.closest('[draggable=true]'), dataTransfer = new DataTransfer();
  // True when a handler has prevented the default.
  const send = (on, type, at) => !on.dispatchEvent(new DragEvent(type, assign({ dataTransfer }, FROM_INPUT, centreOf(at))));
  const target = () => {
    const { clientX, clientY } = centreOf(goal), hit = document.elementFromPoint(clientX, clientY);
    return goal.contains(hit) ? hit : goal;
  };
  if (send(source, 'dragstart', el)) return 'the page refused to start the drag';
  await pause();
  let on = target();
  send(on, 'dragenter', goal);
  let isTaken = send(on, 'dragover', goal);
  await pause();
  if (goal.isConnected) {
    on = target();
    isTaken = send(on, 'dragover', goal) || isTaken;
  }
  if (isTaken) send(on, 'drop', goal);
  if (source.isConnected) send(source, 'dragend', goal);
  return isTaken ? '' : 'the place does not take what was dragged';
};

/** Can it scroll any further in this direction? */
const hasRoom = (el, dx, dy, root) => {
  const style = getComputedStyle(el);
  if (el != root && !/auto|scroll|overlay/.test(dx ? style.overflowX : style.overflowY)) return false;
  const at = dx ? el.scrollLeft : el.scrollTop, most = dx ? el.scrollWidth - el.clientWidth : el.scrollHeight - el.clientHeight;
  // Where lines run from the right, scrollLeft goes from 0 to -most.
  const isFromRight = dx && style.direction == 'rtl';
  if (dx + dy < 0) return (isFromRight ? at + most : at) > 0.5;
  return most - at > 0.5 && (!isFromRight || at < -0.5);
};

/**
 * Scrolls the nearest scroller of the element, or of the middle of the page, that has room in the direction.
 * @type {(el: Element | null, dx: number, dy: number) => {moved: boolean}}
 */
export const scrollFrom = (el, dx, dy) => {
  const root = document.scrollingElement || document.documentElement;
  let at = el || hitAt(innerWidth / 2, innerHeight / 2, document);
  while (at && !hasRoom(at, dx, dy, root)) at = flatParent(at);
  const scroller = at || root, { scrollLeft, scrollTop } = scroller;
  scroller.scrollBy({ left: dx, top: dy, behavior: 'instant' });
  return { moved: scroller.scrollLeft != scrollLeft || scroller.scrollTop != scrollTop };
};
