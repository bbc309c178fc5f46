/** The page as a whole: scrolling, keys, where it is. */
import { doc, is, matches } from './dom.js';

const where = () => ({ x: scrollX, y: scrollY });

/** @type {(direction: string, amount?: number, el?: Element) => {x: number, y: number}} */
export const scrollBy = (direction, amount = 300, el) => {
  const by = is(direction, 'up left') ? -amount : amount, across = is(direction, 'left right');
  while (el && !(across ? el.scrollWidth > el.clientWidth : el.scrollHeight > el.clientHeight)) el = el.parentElement;
  (el || window).scrollBy({ left: across && by, top: !across && by, behavior: 'instant' });
  return where();
};

/** Synthetic key events ("Enter", "Control+A"), with what Enter and Space do by themselves. */
export const pressKey = (combo, on = doc.activeElement || doc.body) => {
  const held = combo.split(/\+(?=.)/), last = held.pop(), key = last == 'Space' ? ' ' : last, enter = key == 'Enter';
  const keyCode = { Enter: 13, Tab: 9, Escape: 27, Backspace: 8, Delete: 46, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key] || key.toUpperCase().charCodeAt(0);
  const init = { key, code: last[1] ? last : 'Key' + key.toUpperCase(), keyCode, bubbles: true, cancelable: true, composed: true };
  for (const it of held) init[(it == 'Control' ? 'ctrl' : it.toLowerCase()) + 'Key'] = true;
  const send = (event) => on.dispatchEvent(new KeyboardEvent('key' + event, init));
  if (send('down') && (!key[1] || enter) && send('press')) {
    const push = enter && on.form && matches(on, 'input') ? [...on.form.elements].find((it) => is(it.type, 'submit image')) : (enter || key == ' ') && matches(on, 'a,button,summary,[type=checkbox],[type=radio]') && on;
    if (push) push.click();
  }
  send('up');
};

export const page = {
  scrollBy: (direction, amount) => scrollBy(direction, amount),
  scrollTo(left, top) {
    scrollTo({ left, top, behavior: 'instant' });
    return where();
  },
  getUrl: () => location.href,
  getTitle: () => doc.title,
  pressKey: (key) => pressKey(key),
};
