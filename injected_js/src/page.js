/** The page as a whole: scrolling, keys, where it is. */
import { tagOf } from './dom.js';

const WAYS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] };

/** @type {(direction: string, amount?: number, el?: Element) => {x: number, y: number}} */
export const scrollBy = (direction, amount, el) => {
  const [x, y] = WAYS[direction] || WAYS.down, by = amount == null ? 300 : amount;
  let box = el;
  while (box && !(x ? box.scrollWidth > box.clientWidth : box.scrollHeight > box.clientHeight)) box = box.parentElement;
  (box || document.scrollingElement || window).scrollBy({ left: x * by, top: y * by, behavior: 'instant' });
  return { x: scrollX, y: scrollY };
};

const KEYS = { Enter: 13, Tab: 9, Escape: 27, Backspace: 8, Delete: 46, ' ': 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, PageUp: 33, PageDown: 34 };

/** Synthetic key events ("Enter", "Control+A"), with what Enter and Space do by themselves. */
export const pressKey = (combo, el) => {
  const parts = combo == '+' ? [combo] : combo.split(/\+(?!$)/);
  let key = parts.pop();
  if (key == 'Space') key = ' ';
  const on = el || document.activeElement || document.body;
  const init = {
    key,
    code: key == ' ' ? 'Space' : key.length > 1 ? key : /\d/.test(key) ? 'Digit' + key : 'Key' + key.toUpperCase(),
    keyCode: KEYS[key] || key.toUpperCase().charCodeAt(0),
    bubbles: true,
    cancelable: true,
    composed: true,
    ctrlKey: parts.includes('Control'),
    shiftKey: parts.includes('Shift'),
    altKey: parts.includes('Alt'),
    metaKey: parts.includes('Meta'),
  };
  const go = on.dispatchEvent(new KeyboardEvent('keydown', init)) && (key.length > 1 && key != 'Enter' ? true : on.dispatchEvent(new KeyboardEvent('keypress', init)));
  const tag = tagOf(on);
  if (go && key == 'Enter') {
    if (/^(a|button|summary)$/.test(tag)) on.click();
    else if (tag == 'input' && on.form) {
      const submit = [...on.form.elements].find((el) => el.type == 'submit' || el.type == 'image');
      if (submit) submit.click();
      else if (on.form.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))) HTMLFormElement.prototype.submit.call(on.form);
    }
  }
  on.dispatchEvent(new KeyboardEvent('keyup', init));
  if (go && key == ' ' && (/^(button|summary)$/.test(tag) || /^(checkbox|radio)$/.test(on.type))) on.click();
  return { key };
};

export const page = {
  scrollBy: (direction, amount) => scrollBy(direction, amount),
  scrollTo: (x, y) => {
    scrollTo({ left: x, top: y, behavior: 'instant' });
    return { x: scrollX, y: scrollY };
  },
  getUrl: () => location.href,
  getTitle: () => document.title,
  pressKey: (key) => pressKey(key),
};
