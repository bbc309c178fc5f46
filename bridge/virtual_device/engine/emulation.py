"""Turns a desktop tab into a phone's: view, touch, user agent and the host app's script, as CDP parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BASE_DPI = 160


@dataclass(frozen=True)
class ViewSize:
    """The size of a tab's display. 160 dpi (mdpi) is a device pixel ratio of 1."""

    width_px: int
    height_px: int
    density_dpi: int

    @property
    def scale(self) -> float:
        return self.density_dpi / BASE_DPI

    @property
    def width_css(self) -> int:
        return max(1, round(self.width_px / self.scale))

    @property
    def height_css(self) -> int:
        return max(1, round(self.height_px / self.scale))

    def metrics(self) -> dict[str, Any]:
        """The parameters of Emulation.setDeviceMetricsOverride."""
        return {
            "width": self.width_css,
            "height": self.height_css,
            "deviceScaleFactor": self.scale,
            "mobile": True,
            "screenWidth": self.width_css,
            "screenHeight": self.height_css,
        }


@dataclass(frozen=True)
class Identity:
    """The device in the user agent."""

    chromium_version: str
    android_release: str = "14"

    @property
    def user_agent(self) -> str:
        """The reduced user agent of mobile Chrome (developer.chrome.com/docs/privacy-security/user-agent-reduction)."""
        major = self.chromium_version.partition(".")[0]
        return (
            f"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{major}.0.0.0 Mobile Safari/537.36"
        )

    def user_agent_override(self) -> dict[str, Any]:
        """The parameters of Emulation.setUserAgentOverride, with client hints that agree with the user agent."""
        major = self.chromium_version.partition(".")[0]
        names = ("Chromium", "Android WebView")
        grease = {"brand": "Not=A?Brand", "version": "24"}
        return {
            "userAgent": self.user_agent,
            "platform": "Linux armv81",
            "userAgentMetadata": {
                "brands": [grease, *({"brand": name, "version": major} for name in names)],
                "fullVersionList": [grease, *({"brand": name, "version": self.chromium_version} for name in names)],
                "platform": "Android",
                "platformVersion": f"{self.android_release}.0.0",
                "architecture": "",
                "model": "K",
                "mobile": True,
            },
        }


# Select popups and date, time and colour pickers are dialogs on Android, which crash a WebView without an Activity.
# A select opens by mousedown or key, the inputs by key or by click, also through their label (Blink's
# MenuListSelectType, ChooserOnlyTemporalInputTypeView, ColorInputType). The trusted event's default action opens the
# picker, so the page or the bridge can prevent it; the script checks after the dispatch.
# The script reports through a dialog with a secret text: a binding would need the Runtime domain, which sends every
# console message of every page.
HOST_WORLD = "webview-host"
_PICKER_WATCH = """(() => {
  const kinds = new Set(['date', 'datetime-local', 'month', 'week', 'time', 'color']);
  const picker = (node) => node && node.nodeType === 1 && !node.disabled &&
    (node.localName === 'select' ||
      (node.localName === 'input' && kinds.has(node.type) && (node.type === 'color' || !node.readOnly)));
  const opens = ({ key, altKey }) => [' ', 'Enter', 'F4'].includes(key) || (altKey && /Arrow(Up|Down)/.test(key));
  const watch = (event) => {
    if (!event.isTrusted || (event.type === 'keydown' && !opens(event))) return;
    let node = event.composedPath()[0];
    if (node && node.localName === 'option') node = node.closest('select');
    if (!picker(node) || event.type === (node.localName === 'select' ? 'click' : 'mousedown')) return;
    setTimeout(() => { if (!event.defaultPrevented) alert('SECRET ' + node.localName); }, 0);
  };
  // showPicker gives no event of its own. It needs a person's, in whose handlers pages call it.
  const look = (event) => {
    const isDialog = (node) => getComputedStyle(node).appearance !== 'base-select';
    const find = () => [...document.querySelectorAll('select:open')].some(isDialog) && alert('SECRET select');
    if (event.isTrusted) setTimeout(find, 0);
  };
  addEventListener('pointerup', look, true);
  addEventListener('click', look, true);
  addEventListener('keydown', look, true);
  addEventListener('mousedown', watch, true);
  addEventListener('click', watch, true);
  addEventListener('keydown', watch, true);
})()"""

# The host app's shouldOverrideUrlLoading cancels these navigations: the page stays.
_STAY = """globalThis.navigation && navigation.addEventListener('navigate', (event) => {
  if (!/^(https?|about|blob|data|javascript):/i.test(event.destination.url)) event.preventDefault();
})"""


def host_script(secret: str) -> str:
    """The script for every document: pickers kill the app, and addresses of other apps are not opened."""
    return f"{picker_watch(secret)};{_STAY}"


def picker_watch(secret: str) -> str:
    """The script that opens a dialog with the text `SECRET ELEMENT` when a picker opens."""
    return _PICKER_WATCH.replace("SECRET", secret)
