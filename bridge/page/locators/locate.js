// Finds what a locator describes, in the world of the injected script (`a` is its API). An expression: one function.
//
// `steps` narrow down from the whole document; each is one of {css}, {testid}, {role, name}, {text}, {label},
// {placeholder}, {hasText}, {visible}, {nth}. A matcher is {text, exact} or {source, flags}.
// Answers `{n, items}`; with `seen` only when that would be something else than what was seen, or after `ms`.
(async (a, steps, { limit = 10, at = -1, seen = null, ms = 0 } = {}) => {
  const fold = (text) => String(text == null ? '' : text).replace(/\s+/g, ' ').trim();
  const matcher = (want) => {
    if (want == null) return () => true;
    if (want.source != null) {
      const re = new RegExp(want.source, want.flags);
      return (text) => re.test(fold(text));
    }
    const words = fold(want.text), low = words.toLowerCase();
    return want.exact ? (text) => fold(text) === words : (text) => fold(text).toLowerCase().includes(low);
  };
  const kids = (node) => [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children];
  const below = (root) => {
    const found = [], todo = kids(root).reverse();
    for (let el; (el = todo.pop()); ) {
      found.push(el);
      todo.push(...kids(el).reverse());
    }
    return found;
  };
  const up = (el) => el.assignedSlot || el.parentElement || (el.getRootNode().host || null);
  const holds = (outer, inner) => {
    for (let el = inner; el; el = up(el)) if (el === outer) return true;
    return false;
  };
  const visible = (el) => {
    const box = el.getBoundingClientRect(), style = getComputedStyle(el);
    if (style.display === 'contents') return [...el.children].some(visible) || !!fold(el.textContent);
    return box.width > 0 && box.height > 0 && style.visibility === 'visible' && (!el.checkVisibility || el.checkVisibility());
  };
  const hidden = (el) => {
    for (let at = el; at; at = up(at))
      if (at.getAttribute('aria-hidden') === 'true' || at.inert || getComputedStyle(at).display === 'none') return true;
    return getComputedStyle(el).visibility !== 'visible';
  };
  const words = (el) => (/^(button|submit|reset)$/.test(el.type) && el.localName === 'input' ? el.value : el.innerText == null ? el.textContent : el.innerText);
  const silent = (el) => /^(script|style|noscript|head|template|title)$/.test(el.localName);
  const innermost = (root, is) => {
    const found = [], todo = kids(root).reverse();
    for (let el; (el = todo.pop()); ) {
      if (silent(el)) continue;
      const inner = kids(el).filter((kid) => !silent(kid));
      if (is(words(el)) && !inner.some((kid) => below(kid).concat(kid).some((it) => !silent(it) && is(words(it))))) found.push(el);
      else todo.push(...inner.reverse());
    }
    return found;
  };
  const one = {
    css: (root, { css }) => [root, ...below(root).filter((el) => el.shadowRoot).map((el) => el.shadowRoot)].flatMap((part) => [...part.querySelectorAll(css)]),
    testid: (root, { testid }) => below(root).filter((el) => el.getAttribute('data-testid') === testid),
    role(root, { role, name }) {
      const is = matcher(name);
      return below(root).filter((el) => a.roleOf(el) === role && !hidden(el) && (name == null || is(a.nameOf(el))));
    },
    text: (root, { text }) => innermost(root, matcher(text)),
    label(root, { label }) {
      const is = matcher(label);
      return below(root).filter((el) =>
        [...(el.localName !== 'form' && el.labels ? el.labels : [])].some((it) => is(it.innerText)) ||
        (el.hasAttribute('aria-label') && is(el.getAttribute('aria-label'))) ||
        (el.hasAttribute('aria-labelledby') && is(a.nameOf(el))));
    },
    placeholder(root, { placeholder }) {
      const is = matcher(placeholder);
      return below(root).filter((el) => el.hasAttribute('placeholder') && is(el.getAttribute('placeholder')));
    },
  };
  const find = () => {
    let set = [document];
    for (const step of steps) {
      const kind = Object.keys(one).find((key) => key in step);
      if (kind) {
        const next = new Set();
        for (const root of set) for (const el of one[kind](root, step)) next.add(el);
        set = [...next];
      } else if ('nth' in step) set = set.slice(step.nth < 0 ? set.length + step.nth : step.nth).slice(0, 1);
      else if ('visible' in step) set = set.filter((el) => visible(el) === step.visible);
      else {
        const is = matcher(step.hasText);
        set = set.filter((el) => is(words(el)));
      }
    }
    return set;
  };
  const editable = (el) => el.isContentEditable || (/^(input|textarea|select)$/.test(el.localName) && !el.readOnly);
  const told = (el) => {
    const attrs = {}, off = el.matches(':disabled') || !!el.closest('[aria-disabled=true]'), pass = el.type === 'password';
    for (const { name, value } of el.attributes) if (!(pass && name === 'value')) attrs[name] = value.slice(0, 2000);
    const native = el.localName === 'input' && /^(checkbox|radio)$/.test(el.type);
    return {
      tag: el.localName, role: a.roleOf(el) || 'generic', name: fold(a.nameOf(el)).slice(0, 200), attrs,
      text: fold(words(el)).slice(0, 5000), visible: visible(el), enabled: !off, editable: !off && editable(el),
      checked: native ? el.checked : el.getAttribute('aria-checked') === 'true',
      value: pass || el.value == null || typeof el.value === 'object' ? null : String(el.value).slice(0, 5000),
      values: el.selectedOptions ? [...el.selectedOptions].map((it) => it.value) : null,
      focused: el.getRootNode().activeElement === el,
    };
  };
  let frame = parent === window ? -1 : parent.length;
  while (frame-- > 0 && parent[frame] !== window);
  const end = performance.now() + ms;
  for (;;) {
    let set;
    try {
      set = find();
    } catch (e) {
      return { error: String(e).slice(0, 300) };
    }
    const shown = at >= 0 ? set.slice(at, at + 1) : set.slice(0, limit), items = shown.map(told), state = JSON.stringify([set.length, items]);
    if (state !== seen || performance.now() >= end) {
      for (let i = 0; i < shown.length; i++) items[i].ref = a.refOf(shown[i])[0];
      return { n: set.length, items, state, frame };
    }
    await new Promise((done) => setTimeout(done, 30));
  }
})
