/** The page as a whole: scrolling, keys, where it is. */
import { assign, doc, findAll, matches } from '../core/dom.js';

/** What every event made here is. */
export const BUBBLING = { bubbles: true, cancelable: true, composed: true };

/** Synthetic key events where the focus is, with what Enter and Space do by themselves; `held` is of KeyboardEventInit. */
export const pressKey = (key, held) => {
  const on = /** @type {any} */ (doc.activeElement), enter = key == 'Enter', send = (type) => on.dispatchEvent(new KeyboardEvent(type, assign({ key, keyCode: enter && 13 }, BUBBLING, held)));
  if (send('keydown') && (enter || key == ' ')) {
    const push = matches(on, 'a,button,summary,[type=checkbox],[type=radio]') ? on : enter && on.form && findAll(on.form, '[type=submit],button:not([type])')[0];
    if (push) push.click();
  }
  send('keyup');
};

export const page = {
  // As the browser's own: { left, top, behavior }.
  scrollBy: (by) => scrollBy(by),
  scrollTo: (to) => scrollTo(to),
  getUrl: () => doc.URL,
  getTitle: () => doc.title,
  pressKey,
};
