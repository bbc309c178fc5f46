/** The guard over a prepared action, and after it: what happened, and is the page quiet again? */
import { assign, boxOf, cut, doc, findAll, flatParent, fold, is, isLive, kindOf, matches, max, now, parentOf, shadowOf, tagOf } from '../core/dom.js';
import { isSeen } from '../core/actionability.js';
import { isUnseen } from '../core/visibility.js';
import { newCall } from '../core/call_cache.js';
import { focused, landing } from './landing.js';
import { pause } from './pause.js';
import { opensAt, pickerAt, refusalOf } from './pickers.js';

/** What the page has done since the action was prepared, and the element that it was prepared for. */
let state, armed;
/** Has a finger come down in this document; are its events meant for another one? */
let down = doc.readyState != 'loading', stray;
/** Until when the mouse events and the click of a long press are kept from the page; its menu has been sent by script. */
let heldUntil = 0;
export const keepTap = () => {
  heldUntil = now() + 1e3;
};
/** Calls back on every change of the document and of the open shadow roots that are in it. */
export const observe = (callback) => {
  const observer = new MutationObserver(callback), roots = [doc];
  for (const root of roots) {
    observer.observe(root, { childList: true, subtree: true, characterData: true, attributes: true });
    for (const el of root == doc ? doc.documentElement && findAll(doc.documentElement, '*') || [] : root.querySelectorAll('*')) if (shadowOf(el)) roots.push(shadowOf(el));
  }
  return () => observer.disconnect();
};

const FIRST = 'pointerdown mousedown pointerup mouseup click dblclick contextmenu', TOUCH = 'touchstart touchend', GUARDED = FIRST + ' ' + TOUCH;
/** How hard the bridge taps, and nobody else (bridge/page/pointer.py). */
const FORCE = 0.6180419921875;
/** What else a tap brings; pages answer to it as well. */
const BESIDE = 'pointerover pointerenter touchmove mouseover mouseenter mousemove focus focusin';
const OTHER = ' beforeunload pagehide invalid input change submit pointercancel touchcancel';
/** What a key does, it does by the default of one of these. */
const KEYS = 'keydown keypress beforeinput';
/** An event that has not come so long after others did will not come; a click waits 300 ms where two taps zoom. */
const PATIENCE_MS = 400;

/** The innermost node of an event, in open shadow roots too. */
const hitOf = (event) => event.composedPath()[0];
const wordsOf = (el) => __agentBrowser.roleOf(el) + __agentBrowser.nameOf(el);
/** Is a part of what has the same words there? */
const isLike = (hit, words) => {
  for (let at = hit; at && kindOf(at) == 1; at = flatParent(at)) if (wordsOf(at) == words) return true;
};

const stop = (event, isLookedAt) => {
  event.stopImmediatePropagation();
  // Touch that is only looked at holds up no scrolling.
  if (!isLookedAt) event.preventDefault();
};
const listen = (way, types, listener, passive) => {
  for (const type of types.split(' ')) window[way + 'EventListener'](type, listener, { capture: true, passive });
};
/**
 * Hears before the page what fingers do, because it listens from the start. A tap of the bridge where none was prepared
 * was meant for the document before or for another frame, and so was what a finger does that did not come down here.
 */
const first = (event) => {
  const { type, sourceCapabilities } = event, isTouch = type[0] == 't', isDown = type == 'pointerdown';
  if (event.isTrusted) {
    down = down || isDown;
    if (isDown) {
      // What a finger before has left to wait for does not come any more.
      if (state && state._isOver) state._stop();
      stray = event.pressure == FORCE && !armed;
    } else if (!down) stray = sourceCapabilities && sourceCapabilities.firesTouchEvents;
    if (now() < heldUntil && /^(mouse|cl)/.test(type)) {
      if (type == 'click') heldUntil = 0;
      return stop(event);
    }
    // A click by key is none of it.
    if ((stray || (isTouch && state && state._stopped)) && (event.detail || type != 'click')) return stop(event, isTouch);
  } else if (state && type == 'click') {
    // The page's own click, in answer to ours: nobody could answer what it opens. A select does not open by clicks.
    const asked = pickerAt(hitOf(event));
    if (asked && tagOf(asked) == 'input') {
      event.preventDefault();
      state._asked = asked;
    }
  }
  if (state && !isTouch) state._listener(event);
};
const firstKey = (event) => state && state._listener(event);
/** Documents that are opened anew by script forget their listeners. */
export const guard = () => {
  listen('add', KEYS, firstKey, false);
  listen('add', FIRST, first, false);
  listen('add', TOUCH, first, true);
};

/**
 * Watches the document and arms the guard: at the first trusted event the element must still be what it was shown as,
 * and the event must land on it; else the gesture is stopped. What has come over the element since then gets no part of
 * the tap, and what has taken its place none either: unless the page did that while it handled the tap, as a button that
 * is drawn anew when it is pressed, and the words are the same. All that holds for the second tap of `twice` too.
 */
export const watch = (keys, ref, el, on, open, twice, noPicker) => {
  if (state) state._stop();
  heldUntil = 0;
  armed = el;
  const mine = (state = { _at: 0, _first: 0, _types: '', _hit: false, _clicks: 0, _texts: [], _changed: new Set() }), words = el && wordsOf(el);
  // Where keys may arrive: the element, or what the page's answer to one of them, or Tab, has given the focus to.
  let place = el;
  /** Is the page still at one of the events that were meant to be? */
  const isBusy = () => mine._event && mine._event.eventPhase;
  const onKey = (event, hit) => {
    const { type, key } = event, over = landing(hit, place), found = mine._isKnown || (mine._clicks && !mine._isDirty) ? el : __agentBrowser.element(ref), error = found != el && found.error;
    if (type == 'keypress') {
      if (over !== true && mine._isTaken) mine._over = over;
    } else if (over !== true) {
      mine._over = over;
      mine._error = error;
    }
    // What keys do to the words is the page's answer to them; before the first one nobody else may change them, and
    // later neither.
    else if (error && (mine._others || !mine._clicks)) mine._error = error;
    else mine._isKnown = mine._isKnown || error;
    mine._others = mine._isDirty = 0;
    if (mine._over || mine._error) return (mine._stopped = !stop(event));
    mine._isTab = key == 'Tab';
    mine._hit = true;
    mine._clicks += type == 'keydown';
  };
  const listener = (event) => {
    const { type, target } = event;
    if (type == 'invalid') mine._texts.push(target.validationMessage);
    if (/load|hide/.test(type)) mine._left = 1;
    if (is(type, GUARDED) && event.isTrusted) {
      mine._first = mine._first || now();
      // The finger's own events may all come before the first tap's click.
      if (twice && (type == 'pointerdown' || event.detail > 1)) mine._clicked = 0;
      // Until the tap's first click: those after it are a label's doing.
      if (el && !open && !mine._clicked) {
        const hit = hitOf(event), opens = noPicker && pickerAt(hit), over = opens ? tagOf(opens) : landing(hit, el, on), found = __agentBrowser.element(ref), error = found != el && found.error;
        let stops;
        if (mine._hit === true) {
          // Changed by somebody else than the handlers of this tap.
          if (error && mine._others) stops = mine._error = error;
          else if (over !== true && (isLive(el) || !isLike(hit, words))) stops = mine._over = over;
        } else {
          mine._error = mine._error || error;
          mine._hit = mine._hit || (!mine._error && over);
          if ((stops = mine._hit !== true)) mine._types = ' click';
        }
        if (stops) mine._stopped = !stop(event);
        else if (type == 'click') mine._clicked = ++mine._clicks;
      }
    }
    if (keys && event.isTrusted) {
      const hit = hitOf(event), isKey = is(type, KEYS), picker = isKey && opensAt(event) && pickerAt(hit);
      if (picker) mine._error = refusalOf(0, 0, picker);
      if (isKey) {
        if (el) onKey(event, hit);
        else if (keys > 1 || mine._error) {
          stop(event);
          // The end of a key that has been taken where it was meant to be is only kept from what is here.
          if (type != 'keypress') mine._over = landing(hit, 0);
        }
      } else if (type == 'focusin') {
        if (isBusy() || mine._isTab) place = hit;
        mine._isTaken = landing(hit, place) !== true;
      }
    }
    if (event.isTrusted && !isBusy()) mine._event = event;
    // A page cannot say that a tap has ended.
    if (event.isTrusted && !is(type, BESIDE)) mine._types += ' ' + type;
    if (mine._isOver && type == 'click') mine._clicked = 1;
  };
  const unobserve = observe((records) => {
    mine._at = now();
    mine._isDirty = 1;
    // What a handler does, and in its microtasks, is seen while its event is still on the way.
    if (!isBusy()) mine._others = mine._event;
    for (const { target, addedNodes, type } of records)
      for (const node of addedNodes[0] ? addedNodes : type[0] == 'c' || matches(target, '[role=alert],[role=status],[role$=dialog],[aria-live],dialog') ? [target] : []) if (mine._changed.size < 500) mine._changed.add(node);
  });
  const own = TOUCH + ' ' + BESIDE + OTHER;
  guard();
  listen('add', own, listener, false);
  mine._listener = listener;
  mine._stop = () => {
    unobserve();
    listen('remove', own, listener);
    if (state == mine) state = armed = 0;
  };
  setTimeout(mine._stop, 3e4);
};

/**
 * Arms the guard over `keys` in a frame that has no element for them. Those that go wherever the focus is (1) open no
 * dialog: the refusal, where it stands on a picker already; `isHere` is true in the frame that has the focus. Those that
 * are meant for an element of another frame (2) reach nothing here.
 */
export const awaitKeys = (keys) => {
  const at = focused(), isHere = doc.hasFocus() && !(at && at.contentWindow), picker = keys < 2 && isHere && pickerAt(at);
  if (picker) return { error: refusalOf(0, 0, picker) };
  watch(keys);
  return { isHere };
};

/**
 * `expectMs` is how long the input may take to come; the page then has `settleMs` to become quiet, within that time. Who
 * looks at what input in another frame has done here does so after `leastMs`.
 */
export const settle = async ({ settleMs = 1e3, quietMs = 20, expect, expectMs = settleMs, leastMs = 0, snapshot: options }) => {
  const start = now();
  if (!state) watch();
  const mine = state, { _texts, _changed } = mine, late = () => mine._left || now() >= end, quiet = (ms) => now() - mine._at > ms;
  let end = start + expectMs;
  // The event may never come: a page that swaps its form on the way leaves it without a target.
  const comes = () => !(mine._at && mine._types && quiet(200)) && !(mine._first && now() - max(mine._first, start) > PATIENCE_MS);
  while (!late() && expect && !is(expect, mine._types) && !(expect != 'touchend' && /contextmenu/.test(mine._types)) && comes()) await pause();
  end = Math.min(end, now() + settleMs);
  await pause();
  await pause();
  while (!late() && !(quiet(quietMs) && now() - start >= leastMs)) await pause(5);
  // Of a tap that was refused nothing more reaches the page, of whatever else is still on its way what the guard lets by:
  // a key, a tap, or the end of one.
  if (mine._stopped) stray = 1;
  mine._isOver = expect && !is(expect, mine._types) && !(/click/.test(expect) ? /cancel/ : /cancel|up|end/).test(mine._types);
  if (!mine._isOver || mine._stopped) mine._stop();
  newCall();
  // What the page has asked for by itself; showPicker gives no event that it could be kept from. What is part of the page can be tapped.
  let asked = mine._asked, isOpen;
  try {
    if (!asked) isOpen = !!(asked = findAll(doc.documentElement, 'select:open,input:open').find((el) => getComputedStyle(el).appearance != 'base-select'));
  } catch (e) {}
  // What can be read now and could not before.
  for (let node of _changed) {
    if (kindOf(node) == 3) node = parentOf(node);
    const words = node && kindOf(node) == 1 && isLive(node) && isSeen(node) && !isUnseen(node, boxOf(node)) && cut(fold(node.innerText || ''), 200);
    if (words && !_texts[7] && !_texts.some((text) => text.includes(words))) _texts.push(words);
  }
  return assign(
    { reason: mine._left ? 'navigation' : late() ? 'deadline' : 'quiet', waitedMs: now() - start, endedAt: now(), hit: mine._hit, error: mine._error || undefined, over: mine._over, clicks: mine._clicks, texts: _texts, picker: asked && assign(refusalOf(0, 0, asked), { isOpen }) },
    options && !mine._left && { snapshot: __agentBrowser.snapshot(options) },
  );
};
