/** The page as a whole: scrolling, keys, where it is. */
import { is, tagOf } from './dom.js';

/** @type {(direction: string, amount?: number, el?: Element) => {x: number, y: number}} */
export const scrollBy = (direction, amount, el) => {
  const by = (amount == null ? 300 : amount) * (is(direction, 'up left') ? -1 : 1), across = is(direction, 'left right');
  while (el && !(across ? el.scrollWidth > el.clientWidth : el.scrollHeight > el.clientHeight)) el = el.parentElement;
  (el || window).scrollBy({ left: across ? by : 0, top: across ? 0 : by, behavior: 'instant' });
  return { x: scrollX, y: scrollY };
};

const CODES = { Enter: 13, Tab: 9, Escape: 27, Backspace: 8, Delete: 46, PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };

/** Synthetic key events ("Enter", "Control+A"), with what Enter and Space do by themselves. */
export const pressKey = (combo, el) => {
  const parts = combo.split(/\+(?=.)/), last = parts.pop(), key = last == 'Space' ? ' ' : last, on = el || document.activeElement || document.body, { type, form } = on;
  const init = { key, code: last[1] ? last : 'Key' + key.toUpperCase(), keyCode: CODES[key] || key.toUpperCase().charCodeAt(0), bubbles: true, cancelable: true, composed: true };
  for (const held of parts) init[(held == 'Control' ? 'ctrl' : held.toLowerCase()) + 'Key'] = true;
  const send = (event) => on.dispatchEvent(new KeyboardEvent('key' + event, init));
  const go = send('down') && (key[1] && key != 'Enter' ? 1 : send('press')), pushes = is(tagOf(on), 'button summary');
  if (go && key == 'Enter')
    if (pushes || tagOf(on) == 'a') on.click();
    else if (tagOf(on) == 'input' && form) {
      const submit = [...form.elements].find((control) => is(control.type, 'submit image'));
      if (submit) submit.click();
      else if (form.dispatchEvent(new Event('submit', init))) HTMLFormElement.prototype.submit.call(form);
    }
  send('up');
  if (go && key == ' ' && (pushes || is(type, 'checkbox radio'))) on.click();
  return { key };
};

export const page = {
  scrollBy: (direction, amount) => scrollBy(direction, amount),
  scrollTo: (left, top) => (scrollTo({ left, top, behavior: 'instant' }), { x: scrollX, y: scrollY }),
  getUrl: () => location.href,
  getTitle: () => document.title,
  pressKey: (key) => pressKey(key),
};
