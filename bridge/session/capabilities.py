"""Probes what a WebView can do, once per session; strategies follow the result, never a version number."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from bridge.cdp.connection import PendingCall
from bridge.errors import BridgeError, CaptureFailed, DeadlineExceeded, ProtocolError, WebViewTooOld
from bridge.host.replies import HostHello
from bridge.json_record import JsonRecord
from bridge.page.capture.full_page import Strategy
from bridge.page.capture.image import decoded, image_bytes_of
from bridge.page.capture.viewport import override_view
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.snapshot.injected import packaged_script

_log = logging.getLogger(__name__)

# The oldest supported engine; docs/engines.md says what has been tested on it.
OLDEST_WEBVIEW = 91
# Commands without effect, each of which exists only if the feature does.
_PROBES = {
    "file_input": ("Page.setInterceptFileChooserDialog", {"enabled": False}),
    "emulation": ("Emulation.clearGeolocationOverride", {}),
    "screencast": ("Page.stopScreencast", {}),
    "focus_emulation": ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
}
_PROBE_WIDTH, _PROBE_HEIGHT = 8, 3_000
_WIPE = "document.documentElement.removeAttribute('style')"


@dataclass(frozen=True, slots=True)
class Capabilities(JsonRecord):
    """One record per session.

    Attributes:
        webview: Package and version of the engine, as reported by the host app.
        user_agent: What its tabs send as User-Agent; "" without isolated worlds.
        capture: `cdp`, or `host` if the engine cannot capture over CDP.
        full_page: The strategy for full-page screenshots: `cdp-beyond-viewport` if the engine draws beyond the view,
            `scroll-and-stitch` if it repeats the view instead; None if it was not tried.
        isolated_worlds: Whether the injected script runs in a world that pages cannot see.
        egress: `pinned` if everything goes through the egress gate, which resolves once; else `unpinned`.
        webrtc: `blocked` if WebRTC and WebTransport, which bypass a proxy, are removed from every document before its
            scripts run; else `open`. The exception is the first document of a popup, which runs until the session has
            attached to it. A virtual device's Chromium is kept to the proxy by a flag; a phone's WebView takes none.
        websockets: `judged` if they go through the gate; else `unjudged`: interception does not see them (nor the
            requests of shared and service workers).
        host_features: The features that the host app reports: proxy, profiles, downloads, capture, …
    """

    webview: str
    user_agent: str
    api_level: int
    capture: str
    full_page: Strategy | None
    isolated_worlds: bool
    file_input: bool
    emulation: bool
    screencast: bool
    focus_emulation: bool
    host_features: tuple[str, ...]
    fetch_interception: bool
    egress: str
    webrtc: str
    websockets: str


@dataclass(frozen=True, slots=True)
class AttachedCapabilities(JsonRecord):
    """Enforcement of the policy on the pages of a foreign app; fields as in `Capabilities`."""

    fetch_interception: bool
    webrtc: str
    egress: str = "unpinned"
    websockets: str = "unjudged"


def require_supported(hello: HostHello) -> None:
    """Refuse a WebView below the support floor.

    Raises:
        WebViewTooOld: With a hint how to update.
    """
    major = re.match(r"[0-9]{1,9}\b", hello.webview_version)
    if major and int(major[0]) < OLDEST_WEBVIEW:
        raise WebViewTooOld(
            f"the WebView on this device is {hello.webview_package} {hello.webview_version}; "
            f"{OLDEST_WEBVIEW} is the oldest supported version",
            hint="On a phone, update Android System WebView (or Chrome) in the Play Store. On an emulator, use an "
            "image of API 31 or newer, or install a WebView APK that has the signature of the image's provider.",
        )


async def probe(
    attachment: Attachment, hello: HostHello, *, fetch_interception: bool, egress: str, webrtc: str, timeout_s: float
) -> Capabilities:
    """Probe the engine, in one round trip; the last three parameters are known already."""
    view, beyond = _capture_beyond_view(attachment)
    calls = {name: attachment.connection.send(method, params) for name, (method, params) in _PROBES.items()}
    found: dict[str, bool] = {}
    for name, call in calls.items():
        found[name] = await _answers(call, timeout_s)
    drawn = await _image(beyond, timeout_s)
    full_page = _strategy(drawn) if drawn and _is_ours(attachment) else None
    if _is_ours(attachment):
        attachment.connection.send("Runtime.evaluate", {"expression": _WIPE}).abandon()
        if full_page == "cdp-beyond-viewport" and view is not None:
            await _restore_view(attachment, view, timeout_s)
    main = attachment.state.main
    user_agent = await _isolated_user_agent(attachment, main.frame_id, timeout_s) if main is not None else None
    return Capabilities(
        webview=f"{hello.webview_package} {hello.webview_version}",
        user_agent=user_agent or "",
        api_level=hello.api_level,
        capture="cdp" if drawn else "host",
        full_page=full_page,
        isolated_worlds=user_agent is not None,
        host_features=tuple(name for name, offered in hello.features.items() if offered and offered != "none"),
        fetch_interception=fetch_interception,
        egress=egress,
        webrtc=webrtc,
        websockets="judged" if egress == "pinned" else "unjudged",
        **found,
    )


def _capture_beyond_view(attachment: Attachment) -> tuple[PendingCall | None, PendingCall]:
    """Request the view's size and a screenshot beyond it, of our blank page painted black above and white below."""
    send = attachment.connection.send
    if not _is_ours(attachment):
        return None, send("Page.captureScreenshot", {"format": "jpeg", "quality": 1})
    script = packaged_script("bridge.session", "paint_probe.min.js")
    paint = f"{script}({_PROBE_HEIGHT},{_PROBE_HEIGHT - 100})"
    view = send("Runtime.evaluate", {"expression": paint, "returnByValue": True})
    # A WebView that cannot fills the clip with copies of the view (Chromium, CreateTiledBitmap).
    clip = {"x": 0, "y": 0, "width": _PROBE_WIDTH, "height": _PROBE_HEIGHT, "scale": 1}
    return view, send("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})


async def _restore_view(attachment: Attachment, view: PendingCall, timeout_s: float) -> None:
    """Restore the pixel ratio if the capture has reset it."""
    try:
        width, height, dpr = (await view.result(timeout_s=timeout_s))["result"]["value"]
        now = await attachment.call("Runtime.evaluate", {"expression": "devicePixelRatio"}, timeout_s=timeout_s)
        if now["result"]["value"] != dpr:
            await override_view(attachment, width, height, dpr, timeout_s=timeout_s)
    except (ProtocolError, DeadlineExceeded, KeyError, TypeError, ValueError) as error:
        _log.debug("the probe may have changed the view: %r", error)


def _is_ours(attachment: Attachment) -> bool:
    main = attachment.state.main
    return main is not None and main.url.startswith("about:blank")


async def _isolated_user_agent(attachment: Attachment, frame_id: str, timeout_s: float) -> str | None:
    """The user agent, read in the injected script's own world, where no page can change it; None without such a world.

    Before Chromium 116 the first document gets the world on demand.
    """
    try:
        found = await attachment.evaluate(frame_id, "navigator.userAgent", timeout_s=timeout_s)
    except BridgeError:
        return None
    return str(found) if attachment.state.context_of(frame_id, CONTEXT_NAME) is not None else None


async def _image(call: PendingCall, timeout_s: float) -> bytes:
    try:
        return image_bytes_of(await call.result(timeout_s=timeout_s))
    except (ProtocolError, DeadlineExceeded, CaptureFailed):
        return b""


def _strategy(image: bytes) -> Strategy:
    bitmap = decoded(image)
    if bitmap.height < _PROBE_HEIGHT:  # higher if the device has more pixels than CSS px
        return "scroll-and-stitch"
    top, bottom = bitmap.getpixel((1, 1)), bitmap.getpixel((1, bitmap.height - 2))
    return "cdp-beyond-viewport" if top != bottom else "scroll-and-stitch"


async def _answers(call: Any, timeout_s: float) -> bool:
    try:
        await call.result(timeout_s=timeout_s)
    except (ProtocolError, DeadlineExceeded):
        return False
    return True
