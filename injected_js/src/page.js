/** The page as a whole: scrolling, keys, where it is. */
import { doc, is, low, matches } from './dom.js';

/** @type {(direction: string, amount?: number, el?: Element) => {x: number, y: number}} */
export const scrollBy = (direction, amount = 300, el) => {
  const by = is(direction, 'up left') ? -amount : amount, left = is(direction, 'left right') ? by : 0, top = by - left;
  while (el && !(left ? el.scrollWidth > el.clientWidth : el.scrollHeight > el.clientHeight)) el = el.parentElement;
  return page.scrollTo(left, top, el, 'By');
};

const KEYS = { Enter: 13, Tab: 9, Escape: 27 };

/** Synthetic key events ("Enter", "Control+A"), with what Enter and Space do by themselves. */
export const pressKey = (combo, on = doc.activeElement) => {
  const held = combo.split(/\+(?=.)/), key = held.pop().replace('Space', ' '), enter = key == 'Enter', init = { key, code: key[1] ? key : 'Key' + key.toUpperCase(), keyCode: KEYS[key] || key.charCodeAt(0), bubbles: true, cancelable: true, composed: true };
  for (const it of held) init[(it == 'Control' ? 'ctrl' : low(it)) + 'Key'] = true;
  const send = (event) => on.dispatchEvent(new KeyboardEvent('key' + event, init));
  if (send('down') && (!key[1] || enter) && send('press')) {
    const push = enter && on.form && matches(on, 'input') ? [...on.form.elements].find((it) => is(it.type, 'submit image')) : (enter || key == ' ') && matches(on, 'a,button,summary,[type=checkbox],[type=radio]') && on;
    if (push) push.click();
  }
  send('up');
};

export const page = {
  scrollBy: (direction, amount) => scrollBy(direction, amount),
  scrollTo(left, top, el, how) {
    (el || window)['scroll' + (how || 'To')]({ left, top, behavior: 'instant' });
    return { x: scrollX, y: scrollY };
  },
  getUrl: () => location.href,
  getTitle: () => doc.title,
  pressKey: (key) => pressKey(key),
};
