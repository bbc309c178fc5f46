/*
 * Defects that real devices have or may have, for a virtual device whose checks must notice them. Runs in the page's own
 * world before its scripts. `secret` reports an opened picker, as in host_quirks.js.
 *
 * Events are swallowed at the document: listeners at the window, such as the bridge's, still get them.
 */
/** @type {(names: string[], secret: string) => void} */
((names, secret) => {
  const has = (name) => names.indexOf(name) >= 0;
  /** @type {(name: string, types: string) => void} */
  const swallow = (name, types) => {
    if (!has(name)) return;
    const stop = (event) => event.stopImmediatePropagation();
    for (const type of types.split(' ')) document.addEventListener(type, stop, true);
  };
  /** @type {(name: string, types: string, selector: string, value: string) => void} */
  const reset = (name, types, selector, value) => {
    if (!has(name)) return;
    const undo = ({ target }) => target.matches && target.matches(selector) && (target.value = value);
    for (const type of types.split(' ')) document.addEventListener(type, undo, true);
  };
  /** @type {(name: string, object: object, property: string, get: () => any) => void} */
  const replace = (name, object, property, get) => {
    if (has(name)) Object.defineProperty(object, property, { get, configurable: true });
  };
  const isCrossSite = () => {
    try {
      return top.location.hostname != location.hostname;
    } catch (_) {
      return true;
    }
  };

  swallow('bare_clicks', 'pointerdown pointerup touchstart touchend mousedown mouseup');
  swallow('no_double_click', 'dblclick');
  swallow('no_context_menu', 'contextmenu');
  swallow('no_keys', 'keydown keyup');
  reset('no_select', 'change', 'select', 'red');
  reset('no_date', 'input change', '[type=date], [type=color]', '');
  replace('no_windows', window, 'open', () => () => null);
  replace('no_frames', window, 'requestAnimationFrame', () => () => 0);
  replace('no_alerts', window, 'alert', () => () => undefined);
  replace('no_files', HTMLInputElement.prototype, 'files', () => null);
  replace('flat_canvas', WebGLRenderingContext.prototype, 'clear', () => () => undefined);
  replace('crashing_pickers', HTMLInputElement.prototype, 'showPicker', () => () => alert(`${secret} input`));
  replace('crashing_pickers', HTMLSelectElement.prototype, 'showPicker', () => () => alert(`${secret} input`));
  if (has('crashing_pickers')) {
    const { click } = HTMLElement.prototype;
    HTMLInputElement.prototype.click = function () {
      if (this.type === 'file') alert(`${secret} input`);
      else click.call(this);
    };
  }
  if (has('no_service_worker') && navigator.serviceWorker) navigator.serviceWorker.register = () => new Promise(() => {});
  if (isCrossSite()) replace('no_third_party_cookies', document, 'cookie', () => '');
  if (has('no_downloads')) {
    const cancel = (event) => event.target.closest && event.target.closest('[download]') && event.preventDefault();
    document.addEventListener('click', cancel, true);
  }
  if (has('no_beforeunload')) window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true);
  if (has('blank_page')) document.addEventListener('DOMContentLoaded', () => (document.documentElement.style.opacity = '0'));
})
