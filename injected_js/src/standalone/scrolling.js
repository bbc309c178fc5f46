/** Scrolling in the two forms that browsers have: of two numbers, and of `{left, top, behavior}`. */
const isNumber = (/** @type {any} */ value) => Number.isFinite(value);

/** Do they fit one of the forms? Browsers differ in what they do with others: throw, ignore them, or reject a promise. */
const fits = (/** @type {any[]} */ to) => {
  const [options] = to;
  if (to.length == 2) return to.every(isNumber);
  if (to.length != 1 || !options || typeof options != 'object') return false;
  const { left = 0, top = 0, behavior = 'auto' } = options;
  return isNumber(left) && isNumber(top) && ['auto', 'instant', 'smooth'].includes(behavior);
};

const scrolled = (/** @type {'scrollBy' | 'scrollTo'} */ how) => (/** @type {any[]} */ ...to) => {
  const success = fits(to);
  if (success) {
    const { left, top, behavior = 'auto' } = to.length == 2 ? { left: to[0], top: to[1] } : to[0];
    // A page's `scroll-behavior: smooth` would have only begun to scroll when the position is reported.
    window[how]({ left, top, behavior: behavior == 'auto' ? 'instant' : behavior });
  }
  const error = { code: 'bad_usage', message: `${how} takes two numbers, or an object of left, top and behavior (auto, instant or smooth)` };
  return Object.assign({ success, scrollX, scrollY }, success ? {} : { error });
};

export const scrolling = { scrollBy: scrolled('scrollBy'), scrollTo: scrolled('scrollTo') };
