/**
 * The hit-target guard: input that the bridge sends reaches the element that it was prepared for, or nothing.
 *
 * A tap on its way from Python may meet a page that has changed since. Steps:
 *
 *  1. `guard` adds listeners to the window in the capture phase when the script is installed. In documents that begin
 *     afterwards they come before the page's own, so an event that they stop is one that the page never sees.
 *  2. `arm` begins when an element has passed the checks of prepare.js, in the same call: from then on changes of the
 *     document and events are recorded in a `Guard`.
 *  3. At the first trusted event the element must still be what its ref was shown as, and the event must land on it, in
 *     it, or on its label. Otherwise this event and the rest of the gesture are stopped.
 *  4. At each later event of the gesture, what lies under it must still be the element, and mean what was shown, also
 *     where the page itself has changed it in answer to an event. It may say more then, and be renamed or redrawn where
 *     that leaves no doubt (`isAnswered` in context.js); what takes the place of another gets nothing.
 *  5. The gesture ends with its first click (its second, of a double tap). Clicks after that are a label's doing.
 *  6. Keys have to arrive at the element, or where the page's answer to one of them, or Tab, has put the focus.
 *  7. Taps that were prepared for another frame or an earlier document are known by their force and stopped.
 *  8. `settle` ends the guard, or leaves it armed for input that is still on its way; after 30 s it ends by itself.
 */
import { doc, findAll, flatParent, is, isLive, kindOf, matches, now, shadowOf, tagOf } from '../core/dom.js';
import { animations, isOpened, treesOf } from './appearing.js';
import { isAnswered, shownContext } from './context.js';
import { focused, landing, nameOfHit, withLine } from './landing.js';
import { opensAt, pickerAt, refusalOf } from './pickers.js';

/**
 * What happens between arming and settling.
 * @typedef {object} Guard
 *
 * What has come:
 * @property {number} _firstInputAt when the first trusted event of the gesture came, or 0
 * @property {string} _types the types of the trusted events, in their order, behind a space each
 * @property {Event} [_lastEvent] the trusted event that came last; the page may still be handling it
 * @property {number} _count clicks of the element, or keys that it took
 * @property {boolean} [_isClicked] the gesture has had its click
 * @property {Event[]} _touches those of the finger, by which one sees whether the page took them for itself
 *
 * What became of it:
 * @property {boolean} _isHit an event has reached the element
 * @property {string} [_landedOn] what the first event would have reached instead
 * @property {string} [_over] what came over the element, or took the focus, during the gesture
 * @property {{code: string}} [_error] why the ref does not mean the element any more, or what the keys would open
 * @property {boolean} [_isStopped] events were kept from the page
 *
 * What the page has done:
 * @property {number} _changedAt when the document changed last, or 0
 * @property {Set<Node>} _changed nodes that were added, or whose words changed
 * @property {Set<ShadowRoot>} _trees shadow roots in which something changed
 * @property {Animation[]} _before the animations that ran when it was armed
 * @property {Element} [_tapped] the element that the gesture was prepared for
 * @property {boolean} [_wasOpen] it was expanded already
 * @property {string[]} _texts messages of form validation; settle adds what else can be read now
 * @property {boolean} [_isDirty] the document has changed since the last key
 * @property {Event} [_changedAfter] the event after whose handling something else changed the document
 * @property {{code: string}} [_ownError] the page's own answer to a key has changed what the ref means
 * @property {boolean} [_isTab] the last key was Tab
 * @property {boolean} [_isFocusTaken] something other than a key has moved the focus
 * @property {boolean} [_isLeft] the document is being left
 * @property {() => boolean} [_awaits] whether settle still waits for an event
 * @property {Promise<void>} _gone resolved when it is left and nothing more is awaited
 * @property {any} [_isGone]
 * @property {Element} [_picker] the input whose dialog the page has asked for
 *
 * @property {boolean} [_isOver] settled, and armed only for what is still on its way
 * @property {(event: Event) => void} [_listener]
 * @property {() => void} [_stop]
 */

/** The types of events that belong to a gesture or follow from it. */
const POINTER = 'pointerdown mousedown pointerup mouseup click dblclick contextmenu', TOUCH = 'touchstart touchend', GESTURE = POINTER + ' ' + TOUCH;
const KEYS = 'keydown keypress beforeinput';
/** Events that a tap brings along; pages answer to them as well. */
const ACCOMPANYING = 'pointerover pointerenter touchmove mouseover mouseenter mousemove focus focusin';
const OTHER = ' beforeunload pagehide invalid input change submit pointercancel touchcancel';
const LEAVING = 'beforeunload pagehide';
const ANNOUNCING = '[role=alert],[role=status],[role$=dialog],[aria-live],dialog';

/** The force by which a document knows the bridge's taps (bridge/page/input/touch.py); no screen measures it. */
const TAP_FORCE = 0.6180419921875;
const MOST_CHANGED_NODES = 500;
const GUARD_ENDS_MS = 3e4, LONG_PRESS_TAP_MS = 1e3;

/** @type {Guard | 0 | undefined} the guard of the present gesture */
export let armed;
/** The element that the present gesture was prepared for. */
let target;
/** Has a finger come down in this document? */
let isDown = doc.readyState != 'loading';
/** Are the finger's events meant for another document? */
let isStray = false;
/** Until when the mouse events and the click of a long press are kept from the page; its menu has been sent by script. */
let tapKeptUntil = 0;
export const keepTap = () => {
  tapKeptUntil = now() + LONG_PRESS_TAP_MS;
};
/** What is still to come of a gesture that was stopped is kept from the page. */
export const dropRest = () => {
  isStray = true;
};

/** Calls back on every change of the document and of the open shadow roots that are in it. */
export const observe = (callback) => {
  const observer = new MutationObserver(callback), roots = [doc];
  for (const root of roots) {
    observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
    for (const el of root == doc ? (doc.documentElement && findAll(doc.documentElement, '*')) || [] : root.querySelectorAll('*')) if (shadowOf(el)) roots.push(shadowOf(el));
  }
  return () => observer.disconnect();
};

/** The innermost node of an event, in open shadow roots too. */
const hitOf = (event) => event.composedPath()[0];
/** Is the node part of something of this tag that means what was shown? */
const isAnew = (node, tag, shown) => {
  for (let at = node; at && kindOf(at) == 1; at = flatParent(at)) if (tagOf(at) == tag && isAnswered(at, shown)) return true;
};

const stop = (event, isPassive) => {
  event.stopImmediatePropagation();
  // Touch that is only looked at holds up no scrolling.
  if (!isPassive) event.preventDefault();
};
const listen = (way, types, listener, passive) => {
  for (const type of types.split(' ')) window[way + 'EventListener'](type, listener, { capture: true, passive });
};

/** Steps 1 and 7: pointer and touch events, before the page. */
const onPointer = (event) => {
  const { type } = event, isTouch = is(type, TOUCH), isFingerDown = type == 'pointerdown';
  if (event.isTrusted) {
    isDown = isDown || isFingerDown;
    if (isFingerDown) {
      // A new finger: nothing is still on its way of the gesture before.
      if (armed && armed._isOver) armed._stop();
      isStray = event.pressure == TAP_FORCE && !target;
    } else if (!isDown) isStray = event.sourceCapabilities && event.sourceCapabilities.firesTouchEvents;
    if (now() < tapKeptUntil && is(type, 'mousedown mouseup click')) {
      if (type == 'click') tapKeptUntil = 0;
      return stop(event);
    }
    // A click without detail is made by a key, and no part of a gesture.
    if ((isStray || (isTouch && armed && armed._isStopped)) && (event.detail || type != 'click')) return stop(event, isTouch);
  } else if (armed && type == 'click') {
    // The page's own click on a picker, in answer to ours: its dialog could not be answered. A select does not open by clicks.
    const picker = pickerAt(hitOf(event));
    if (picker && tagOf(picker) == 'input') {
      event.preventDefault();
      armed._picker = picker;
    }
  }
  if (armed && !isTouch) armed._listener(event);
};
const onKey = (event) => armed && armed._listener(event);

/** Step 1. Repeated in documents that scripts reopen, which forget their listeners. */
export const guard = () => {
  listen('add', KEYS, onKey, false);
  listen('add', POINTER, onPointer, false);
  listen('add', TOUCH, onPointer, true);
};

/**
 * @typedef {object} Arming
 * @property {0 | 1 | 2} [_keys] 1: keys are going to be pressed; 2: and are meant for another frame
 * @property {string} [_ref]
 * @property {Element} [_el] the ref's element; none guards keys without a ref
 * @property {Element} [_on] what stands for it, such as its label
 * @property {boolean} [_isOpen] events may reach anything: the action is done by script
 * @property {boolean} [_isDouble] two taps
 * @property {boolean} [_isDrag] only the first event is judged
 * @property {boolean} [_noPicker] nothing may open a dialog
 */

/** Step 2. @type {(arming?: Arming) => Guard} */
export const arm = ({ _keys, _ref, _el: el, _on: on, _isOpen, _isDouble, _isDrag, _noPicker } = {}) => {
  if (armed) armed._stop();
  let leave;
  tapKeptUntil = 0;
  target = el;
  /** @type {Guard} */
  const mine = (armed = { _firstInputAt: 0, _types: '', _count: 0, _isHit: false, _changedAt: 0, _changed: new Set(), _trees: new Set(), _before: el || _keys ? animations() : [], _tapped: el, _wasOpen: el && isOpened(el), _texts: [], _touches: [], _gone: new Promise((done) => (leave = done)) });
  const shown = el && shownContext(el);
  // Where keys may arrive (step 6).
  let place = el;
  /** Is the page still handling an event? */
  const isBusy = () => mine._lastEvent && mine._lastEvent.eventPhase;
  /** Why the ref does not mean the element any more. */
  const staleness = () => {
    const found = __agentBrowser.element(_ref);
    return found == el ? undefined : found.error;
  };

  /** Steps 3 to 5. */
  const guardGesture = (event, type) => {
    // The finger's own events may all come before the first tap's click.
    if (_isDouble && (type == 'pointerdown' || event.detail > 1)) mine._isClicked = false;
    // A drag ends elsewhere, and what it moves changes on the way.
    if (!el || _isOpen || mine._isClicked || (_isDrag && mine._isHit)) return;
    const hit = hitOf(event), picker = _noPicker && pickerAt(hit);
    /** @type {any} */
    const landed = picker ? tagOf(picker) : landing(hit, el, on);
    const error = staleness(), isHere = isLive(el);
    let stops;
    if (mine._isHit) {
      // What nobody but the page's answer to this gesture could have redrawn.
      if (error && (mine._changedAfter || (isHere && !isAnswered(el, shown)))) stops = mine._error = withLine(error);
      else if (landed !== true && (isHere || !isAnew(hit, tagOf(el), shown))) stops = mine._over = landed;
    } else {
      mine._error = mine._error || withLine(error);
      if (!mine._error && !mine._landedOn) {
        if (landed === true) mine._isHit = true;
        else mine._landedOn = landed;
      }
      stops = !mine._isHit;
      // Nothing more is waited for.
      if (stops) mine._types = ' click';
    }
    if (stops) {
      stop(event);
      mine._isStopped = true;
    } else if (type == 'click') {
      mine._count++;
      mine._isClicked = true;
    }
  };

  /** Step 6, of keys for the element. */
  const guardKey = (event, hit) => {
    const { type, key } = event, landed = landing(hit, place), error = mine._ownError || (mine._count && !mine._isDirty) ? undefined : staleness();
    if (type == 'keypress') {
      if (landed !== true && mine._isFocusTaken) mine._over = landed;
    } else if (landed !== true) {
      mine._over = landed;
      mine._error = error;
    }
    // What keys do to the words is the page's answer to them. Before the first key, and between keys from outside of
    // their handling, nothing may change them.
    else if (error && (mine._changedAfter || !mine._count)) mine._error = error;
    else mine._ownError = mine._ownError || error;
    mine._changedAfter = undefined;
    mine._isDirty = false;
    if (mine._over || mine._error) {
      stop(event);
      mine._isStopped = true;
      return;
    }
    mine._isTab = key == 'Tab';
    mine._isHit = true;
    if (type == 'keydown') mine._count++;
  };

  const guardKeys = (event, type) => {
    const hit = hitOf(event), isKey = is(type, KEYS), picker = isKey && opensAt(event) && pickerAt(hit);
    if (picker) mine._error = refusalOf(0, 0, picker);
    if (isKey) {
      if (el) guardKey(event, hit);
      else if (_keys > 1 || mine._error) {
        stop(event);
        // The end of a key that was taken where it was meant to be is kept from what is here, without an error.
        if (type != 'keypress') mine._over = nameOfHit(hit);
      }
    } else if (type == 'focusin') {
      if (isBusy() || mine._isTab) place = hit;
      mine._isFocusTaken = landing(hit, place) !== true;
    }
  };

  const listener = (event) => {
    const { type } = event;
    if (type == 'invalid') mine._texts.push(event.target.validationMessage);
    if (is(type, LEAVING)) mine._isLeft = true;
    if (event.isTrusted) {
      if (is(type, GESTURE)) {
        mine._firstInputAt = mine._firstInputAt || now();
        if (is(type, TOUCH)) mine._touches.push(event);
        guardGesture(event, type);
      }
      if (_keys) guardKeys(event, type);
      if (!isBusy()) mine._lastEvent = event;
      if (!is(type, ACCOMPANYING)) mine._types += ' ' + type;
    }
    if (mine._isOver && type == 'click') mine._isClicked = true;
    // A document that is being left may be gone before its next frame: it answers now, if nothing more can come.
    if (mine._isLeft && (type == 'pagehide' || !(mine._awaits && mine._awaits()))) leave((mine._isGone = 1));
  };

  const unobserve = observe((records) => {
    mine._changedAt = now();
    mine._isDirty = true;
    // What a handler does, and in its microtasks, is seen while its event is still being handled.
    if (!isBusy()) mine._changedAfter = mine._lastEvent;
    for (const { target, addedNodes, type } of records) {
      const nodes = addedNodes[0] ? addedNodes : type == 'characterData' || type == 'childList' || matches(target, ANNOUNCING) ? [target] : [];
      for (const node of nodes) if (mine._changed.size < MOST_CHANGED_NODES) mine._changed.add(node);
      for (const tree of treesOf(target)) mine._trees.add(tree);
    }
  });
  const own = TOUCH + ' ' + ACCOMPANYING + OTHER;
  guard();
  listen('add', own, listener, false);
  mine._listener = listener;
  mine._stop = () => {
    unobserve();
    listen('remove', own, listener);
    if (armed == mine) armed = target = 0;
  };
  setTimeout(mine._stop, GUARD_ENDS_MS);
  return mine;
};

/**
 * Arms the guard over `keys` in a frame that has no element for them. Those that go wherever the focus is (1) open no
 * dialog; where the focus is on a picker already, that is refused at once. Those that are meant for an element of
 * another frame (2) reach nothing here.
 * @type {(keys: 1 | 2) => {error: {code: string}} | {isHere: boolean}} `isHere` in the frame that has the focus
 */
export const awaitKeys = (keys) => {
  const at = focused(), isHere = doc.hasFocus() && !(at && at.contentWindow), picker = keys < 2 && isHere && pickerAt(at);
  if (picker) return { error: refusalOf(0, 0, picker) };
  arm({ _keys: keys });
  return { isHere };
};
