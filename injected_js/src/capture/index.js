/*
 * What a capture of more than the view needs of the document: measure it, bring lazy parts in, keep what is fixed or
 * sticky from being seen twice, and put everything back. Runs in our isolated world; the page's DOM is not written to:
 * positions and opacity are overridden by animations, which no MutationObserver sees. Only where an `!important` rule
 * beats the animation is the element's own style set, and set back.
 */
(() => {
  const held = [];
  const seen = new Map();
  // A call that is still waiting when `restore` has come must not change anything any more.
  let was, epoch = 0;

  const root = () => document.scrollingElement || document.documentElement;
  // A machine with other work draws late; a view that is not drawn at all must not hold the capture up again and again.
  const LATE_FRAME_MS = 2000, NO_FRAME_MS = 100;
  let patienceMs = LATE_FRAME_MS;
  /** Whether the frame has come that `ask` is given a callback for. */
  const within = (ask) =>
    new Promise((done) => {
      const missed = setTimeout(() => { patienceMs = NO_FRAME_MS; done(false); }, patienceMs);
      ask(() => { clearTimeout(missed); patienceMs = LATE_FRAME_MS; done(true); });
    });
  const frame = () => within((done) => requestAnimationFrame(() => setTimeout(done)));
  const view = () => window.visualViewport || { scale: 1, width: innerWidth, height: innerHeight, pageLeft: scrollX, pageTop: scrollY, offsetLeft: 0, offsetTop: 0 };
  const goTo = (left, top) => window.scrollTo({ left, top, behavior: 'instant' });

  // Content may be wider than what can be scrolled to; `prepare` finds out.
  let reachable = Infinity;
  const measure = () => {
    const { scale, width, height, offsetLeft, offsetTop } = view(), it = root();
    return {
      dpr: devicePixelRatio, zoom: scale, width, height, left: scrollX + offsetLeft, top: scrollY + offsetTop, offsetLeft, offsetTop, fullWidth: innerWidth, fullHeight: innerHeight,
      pageWidth: Math.max(Math.min(it ? it.scrollWidth : 0, reachable), width), pageHeight: Math.max(it ? it.scrollHeight : 0, height),
    };
  };

  /** Override one property until `restore`. */
  const override = (el, css, property, composite = 'replace') => {
    const before = getComputedStyle(el)[property], wanted = Object.values(css)[0];
    let animation = null;
    try {
      animation = el.animate([css, css], { duration: 1e9, composite });
    } catch (e) {}
    const undo = [() => animation && animation.cancel()];
    if (before !== wanted && getComputedStyle(el)[property] === before && el.style) {
      for (const name of Object.keys(css)) {
        const old = el.style.getPropertyValue(name), priority = el.style.getPropertyPriority(name);
        el.style.setProperty(name, css[name], 'important');
        undo.push(() => (old ? el.style.setProperty(name, old, priority) : el.style.removeProperty(name)));
      }
    }
    const end = () => { for (const step of undo) step(); };
    held.push(end);
    return end;
  };

  const flatParent = (el) => el.assignedSlot || el.parentElement || (el.getRootNode() || {}).host || null;
  const top = (el) => el === document.body || el === document.documentElement;

  /** Whether an ancestor makes `fixed` mean "fixed to that ancestor" (css-position-3 §2.1), so that it scrolls along. */
  const isCarried = (el) => {
    for (let at = flatParent(el); at && at !== document.documentElement; at = flatParent(at)) {
      const s = getComputedStyle(at);
      if (s.transform !== 'none' || s.perspective !== 'none' || s.filter !== 'none' || /transform|perspective|filter/.test(s.willChange) || /paint|layout|strict|content/.test(s.contain || '')) return true;
    }
    return false;
  };
  const isInScroller = (el) => {
    for (let at = flatParent(el); at && !top(at); at = flatParent(at)) if (!/visible|clip/.test(getComputedStyle(at).overflowY)) return true;
    return false;
  };

  const note = (el) => {
    if (seen.has(el)) return;
    const { position } = getComputedStyle(el);
    if (position === 'sticky' || position === '-webkit-sticky') {
      seen.set(el, null);
      // Without an inset nothing sticks, and the place in the flow stays what it was.
      if (!isInScroller(el)) override(el, { top: 'auto', bottom: 'auto' }, 'top');
    } else if (position === 'fixed') {
      const box = el.getBoundingClientRect(), { width, height } = view();
      if (isCarried(el)) return void seen.set(el, null);
      const covers = box.width >= width * 0.95 && box.height >= height * 0.95;
      const kind = covers && !el.firstElementChild && !el.textContent.trim() ? 'all' : !covers && box.top + box.height / 2 > height / 2 ? 'last' : 'first';
      seen.set(el, { kind, end: null });
    }
  };

  const look = () => {
    const pending = /** @type {any[]} */ ([document]);
    for (let n = 0; pending.length;) {
      for (const el of pending.pop().querySelectorAll('*')) {
        if (++n > 6e4) return;
        if (el.shadowRoot) pending.push(el.shadowRoot);
        note(el);
      }
    }
  };

  /** After the first look: what has become fixed since can only be where a finger would find it. */
  const glance = () => {
    for (const y of [1, 0.04, 0.12, 0.5, 0.88, 0.96, 1])
      for (const x of [0.06, 0.5, 0.94])
        for (let el = document.elementFromPoint(innerWidth * x, Math.max(1, innerHeight * y - 1)); el && !top(el); el = flatParent(el)) note(el);
  };

  const show = (isFirst, isLast) => {
    for (const [el, fixed] of seen) {
      if (!fixed) continue;
      const hide = !(fixed.kind === 'all' || (fixed.kind === 'first' && isFirst) || (fixed.kind === 'last' && isLast));
      if (hide && !fixed.end) fixed.end = override(el, { opacity: '0' }, 'opacity');
      else if (!hide && fixed.end) fixed.end = void fixed.end();
    }
  };

  // Pictures that were waited for in vain: those that take too long are left as they are.
  const inVain = new Set();
  const picturesIn = (top, bottom) =>
    [...document.images].filter((img) => {
      const box = img.getBoundingClientRect();
      return !inVain.has(img) && box.width * box.height && box.top + scrollY < bottom && box.bottom + scrollY > top;
    });
  /** Those of them that are not there yet: on their way, or not even asked for. */
  const missing = (top, bottom) => picturesIn(top, bottom).filter((img) => !img.complete);
  /** When they are there and decoded, that what is drawn next shows them; those that fail are left as they are. */
  const ready = async (images, until) => {
    const shown = images.map((img) => (img.decode ? img.decode().catch(() => 0) : 0));
    if (shown[0]) await Promise.race([Promise.all(shown), new Promise((done) => setTimeout(done, Math.max(0, until - performance.now())))]);
  };
  // What a lazy picture may take to come when it is in view, before the page is scrolled through, or a view is pictured.
  const LAZY_MS = 1000;
  /** What is in view is there, and has been drawn. */
  const drawn = async () => {
    const late = missing(scrollY, scrollY + innerHeight);
    if (!late[0]) return;
    await ready(late, performance.now() + LAZY_MS);
    for (const img of late) if (!img.complete) inVain.add(img);
    await frame();
    await frame();
  };

  /** In the next frame: after the page's scroll handlers, and after what those have asked of that frame. */
  const scrolled = () =>
    within((done) => {
      let heard = false;
      const hear = () => { heard = true; requestAnimationFrame(done); };
      addEventListener('scroll', hear, { once: true });
      requestAnimationFrame(() => {
        removeEventListener('scroll', hear);
        if (!heard) done();
      });
    });

  /**
   * Whether the page does anything when its parts come into view, in two frames. The middle is gone to, for those that
   * listen to scrolling; in the same frame, when they have heard of it, the page is shrunk into the view, where all of its
   * parts are seen by intersection observers (which take transforms into account, and come last in a frame) and by
   * `loading=lazy`; then the end is gone to. Ends anywhere.
   */
  const reacts = async (left, top, bottom, mine) => {
    let changed = false;
    const observer = new MutationObserver(() => { changed = true; }), { height, pageHeight } = measure();
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    try {
      goTo(left, (top + bottom - height) / 2);
      const isInFrame = await scrolled();
      if (mine != epoch) return false;
      glance();
      goTo(left, top);
      const { pageTop } = view(), shrink = height / Math.max(height, bottom - pageTop);
      const end = override(document.documentElement, { transform: `scale(${shrink})`, transformOrigin: `0 ${pageTop}px` }, 'transform');
      await (isInFrame ? new Promise((done) => setTimeout(done)) : frame());
      end();
      if (mine != epoch) return false;
      goTo(left, bottom);
      await frame();
      glance();
    } finally {
      observer.disconnect();
    }
    return changed || measure().pageHeight !== pageHeight;
  };

  globalThis.__agentCapture = {
    measure() {
      was = was || { left: scrollX, top: scrollY };
      return measure();
    },
    /** What loads when it is seen is there afterwards: a page that has such parts is scrolled through; ends at its top. */
    async prepare({ left, top, limit, timeoutMs, stitching }) {
      const until = performance.now() + timeoutMs, mine = epoch;
      was = was || { left: scrollX, top: scrollY };
      override(document.documentElement, { scrollSnapType: 'none' }, 'scrollSnapType');
      goTo(1e6, top);
      reachable = Math.floor(view().pageLeft + view().width);
      look();
      const bottom = Math.min(limit, measure().pageHeight), scrolls = bottom - top > view().height;
      let isLazy = scrolls && (await reacts(left, top, bottom, mine));
      if (mine != epoch) return;
      if (scrolls && !isLazy) {
        await ready(missing(top, bottom), Math.min(until, performance.now() + LAZY_MS));
        if (mine != epoch) return;
        isLazy = missing(top, bottom).some((img) => img.loading === 'lazy');
      }
      for (let y = top, n = 0; isLazy && n < 400 && performance.now() < until; n++) {
        goTo(left, y);
        await frame();
        if (mine != epoch) return;
        n < 2 ? look() : glance();
        const { height, pageHeight } = measure();
        y += Math.max(1, height);
        if (y >= Math.min(limit, pageHeight)) break;
      }
      const late = missing(top, limit);
      await ready(picturesIn(top, limit), until);
      if (mine != epoch) return;
      for (const img of late) if (!img.complete) inVain.add(img);
      goTo(left, top);
      // Drawn in one go, the document shows the bottom bar where the first view ends: it belongs where the last one does.
      const { height, pageHeight } = measure(), down = Math.min(limit, pageHeight) - top - height;
      if (!stitching && down > 0) for (const [el, fixed] of seen) if (fixed && fixed.kind === 'last') override(el, { transform: `translateY(${down}px)` }, 'transform', 'add');
      // Where scrolling does nothing, the capture that follows waits for the frame itself.
      if (isLazy || late[0]) {
        await frame();
        await frame();
      }
      return measure();
    },
    /** The view is at its place when this returns, and was drawn there: a busy machine pictures what is not yet drawn. */
    async tile({ left, top, first, last }) {
      goTo(left, top);
      glance();
      show(first, last);
      await frame();
      await drawn();
      return measure();
    },
    /** After what has brought an element into view. */
    async arrived() {
      await drawn();
      return measure();
    },
    restore() {
      epoch++;
      for (const end of held.splice(0).reverse()) try { end(); } catch (e) {}
      seen.clear();
      inVain.clear();
      patienceMs = LATE_FRAME_MS;
      if (was) goTo(was.left, was.top);
      was = undefined;
      reachable = Infinity;
      return true;
    },
  };
})()
