/** Before an action: is the ref still itself, can it be acted on, and does a tap land on it? */
import { boxOf, max, min, now, tagOf } from '../core/dom.js';
import { firstBox, inspect } from '../core/actionability.js';
import { newCall } from '../core/call_cache.js';
import { hitAt, landing } from './landing.js';
import { pause } from './pause.js';
import { pickerAt, refusalOf } from './pickers.js';
import { arm } from './guard.js';

/** The middle of what is in view of its first box, or nothing: of a pinched page less is seen than its viewport. */
const middle = (el) => {
  const box = firstBox(el), v = visualViewport, { offsetLeft, offsetTop } = v, left = max(box.left, offsetLeft), top = max(box.top, offsetTop);
  const width = min(box.right, offsetLeft + v.width) - left, height = min(box.bottom, offsetTop + v.height) - top;
  return width > 0 && height > 0 && { x: left + width / 2, y: top + height / 2 };
};

/** Does the frame show its document as large as it is laid out, right inside of its border? */
const isPlain = ({ clientLeft, clientTop }, { width, height }, { innerWidth, innerHeight }) => (width - 2 * clientLeft - innerWidth) ** 2 + (height - 2 * clientTop - innerHeight) ** 2 < 2;

/**
 * Where a tap reaches the element, in what is seen of the outermost frame that lets itself be asked, `up` frames above,
 * and is not padded, scaled or turned (bridge/page/pointer.py goes on from there); or `by`, what it would land on instead.
 * An element out of the viewport is brought in, at once and to the middle.
 */
const aim = (el, isWanted, tap) => {
  let at = middle(el), view = /** @type {any} */ (window), frame, by, up = 0;
  if (!at || isWanted) {
    el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    at = middle(el);
  }
  if (!at || !tap) return at;
  const hit = hitAt(at.x, at.y, el.ownerDocument);
  by = landing(hit, el);
  try {
    while (by === true && (frame = view.frameElement)) {
      const box = boxOf(frame);
      if (!isPlain(frame, box, view)) break;
      at.x += box.left + frame.clientLeft;
      at.y += box.top + frame.clientTop;
      by = landing(hitAt(at.x, at.y, frame.ownerDocument), frame);
      view = view.parent;
      up++;
    }
  } catch (e) {}
  const v = view.visualViewport, x = at.x - v.offsetLeft, y = at.y - v.offsetTop;
  // In a frame, what is in its viewport may be out of the page's.
  if (up && !isWanted && (x < 0 || y < 0 || x > v.width || y > v.height)) return aim(el, 1, tap);
  return by === true ? { x, y, up, hit } : { by };
};

/**
 * Waits until the element can take this action, and arms the guard over it: `noPicker` also against what would open a
 * dialog, `keys` for keys.
 */
export const prepare = async (ref, action, { timeoutMs = 5e3, hit = true, noPicker, keys } = /** @type {any} */ ({})) => {
  const end = now() + timeoutMs, isWanted = action == 'scroll_into_view', isPlaced = hit || isWanted;
  for (let last, box; ; last = box) {
    // Always in an animation frame: a box that is measured between two of them may be that of the frame before. What is
    // done by script goes to the element wherever it is, and waits for none.
    if (isPlaced || last) await pause();
    const el = __agentBrowser.element(ref);
    if (!el.nodeType) return el;
    newCall();
    const { _on, _code } = inspect(el, action), pickerOf = (node) => noPicker && pickerAt(node), at = !_code && isPlaced ? aim(_on, isWanted, hit) : {}, { left, top, width, height } = boxOf(_on);
    const refused = refusalOf(el, action, pickerOf(el) || pickerOf(at.hit));
    if (refused) return { error: refused };
    box = '' + [left, top, width, height];
    // Equal over two frames: what slides is not tapped on its way.
    const moves = isPlaced && box != last, lastSeen = _code ? undefined : moves ? 'moving' : at.by && 'covered by ' + at.by, code = _code || (!moves && (!at ? 'not_visible' : at.by && 'covered'));
    if (!code && !lastSeen) {
      arm({ _keys: keys, _ref: ref, _el: el, _on, _isOpen: !hit, _isDouble: action == 'double_click', _noPicker: noPicker });
      return { ok: true, box: [left, top, width, height], tag: tagOf(el), x: at.x, y: at.y, up: at.up };
    }
    if (now() > end) return { error: { code: code || 'timeout', message: lastSeen, lastSeen } };
  }
};
