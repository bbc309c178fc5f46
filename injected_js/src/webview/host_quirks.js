/*
 * What a WebView without an Activity does to every document, for a Chromium that stands in for it.
 *
 * Select popups and date, time and colour pickers are dialogs on Android, which crash such a WebView. A select opens by
 * mousedown or key, the inputs by key or by click, also through their label (Blink's MenuListSelectType,
 * ChooserOnlyTemporalInputTypeView, ColorInputType). The trusted event's default action opens the picker, so the page or
 * the bridge can prevent it; this looks after the dispatch. It reports through a dialog with a secret text: a binding
 * would need the Runtime domain, which sends every console message of every page.
 *
 * Addresses of other apps are not opened, as by the host app's shouldOverrideUrlLoading.
 */
/** @type {(secret: string) => void} */
((secret) => {
  const KINDS = new Set(['date', 'datetime-local', 'month', 'week', 'time', 'color']);
  const isPicker = (node) =>
    node && node.nodeType === 1 && !node.disabled &&
    (node.localName === 'select' || (node.localName === 'input' && KINDS.has(node.type) && (node.type === 'color' || !node.readOnly)));
  const opensByKey = ({ key, altKey }) => [' ', 'Enter', 'F4'].includes(key) || (altKey && /Arrow(Up|Down)/.test(key));
  const report = (element) => alert(`${secret} ${element}`);

  const watch = (event) => {
    if (!event.isTrusted || (event.type === 'keydown' && !opensByKey(event))) return;
    let node = event.composedPath()[0];
    if (node && node.localName === 'option') node = node.closest('select');
    if (!isPicker(node) || event.type === (node.localName === 'select' ? 'click' : 'mousedown')) return;
    setTimeout(() => {
      if (!event.defaultPrevented) report(node.localName);
    }, 0);
  };
  // showPicker gives no event of its own. It needs a person's, in whose handlers pages call it.
  const look = (event) => {
    const isDialog = (/** @type {any} */ node) => getComputedStyle(node)['appearance'] !== 'base-select';
    const find = () => CSS.supports('selector(select:open)') && [...document.querySelectorAll('select:open')].some(isDialog) && report('select');
    if (event.isTrusted) setTimeout(find, 0);
  };
  for (const type of ['pointerup', 'click', 'keydown']) addEventListener(type, look, true);
  for (const type of ['mousedown', 'click', 'keydown']) addEventListener(type, watch, true);

  const { navigation } = /** @type {any} */ (self);
  if (!navigation) return;
  navigation.addEventListener('navigate', (event) => {
    if (!/^(https?|about|blob|data|javascript):/i.test(event.destination.url)) event.preventDefault();
  });
})
