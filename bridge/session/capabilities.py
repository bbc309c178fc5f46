"""What this WebView can do, asked once: strategies are chosen from the answers, never from a version number."""

from __future__ import annotations

import logging
import re
from dataclasses import asdict, dataclass
from typing import Any

from bridge.cdp.connection import PendingCall
from bridge.errors import CaptureFailed, DeadlineExceeded, ProtocolError, WebViewTooOld
from bridge.host.replies import HostHello
from bridge.page.capture.full_page import Strategy
from bridge.page.capture.image import decoded, picture_bytes
from bridge.page.capture.viewport import pretend_view
from bridge.page.target.attachment import WORLD_NAME, Attachment

_log = logging.getLogger(__name__)

OLDEST_WEBVIEW = 74
# Harmless commands, each of which exists only where the feature does.
_PROBES = {
    "file_input": ("Page.setInterceptFileChooserDialog", {"enabled": False}),
    "emulation": ("Emulation.clearGeolocationOverride", {}),
    "screencast": ("Page.stopScreencast", {}),
    "focus_emulation": ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
}
_PROBE_WIDTH, _PROBE_HEIGHT = 8, 3_000
_PAINT = (
    f"document.documentElement.style='height:{_PROBE_HEIGHT}px;background:linear-gradient(#000 {_PROBE_HEIGHT - 100}px,"
    f"#fff {_PROBE_HEIGHT - 100}px)';[visualViewport.width*visualViewport.scale,"
    "visualViewport.height*visualViewport.scale,devicePixelRatio]"
)
_WIPE = "document.documentElement.removeAttribute('style')"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One record per session.

    Attributes:
        webview: Package and version of the engine, as the host app reports it.
        capture: `cdp`, or `host` where the engine cannot capture over CDP.
        full_page: The strategy for whole pages: `cdp-beyond-viewport` where the engine draws what is beyond the view,
            `scroll-and-stitch` where it repeats the view instead; None where it was not tried.
        isolated_worlds: Whether the script runs where pages cannot see it.
        egress: `pinned` where everything goes through the egress gate, which resolves once; else `unpinned`.
        webrtc: `blocked` where WebRTC and WebTransport, which go around a proxy, are taken from every document before
            its scripts run; else `open`. One document is not held by that: what a window that a page opens at an
            address of its own shows first, which runs until the session has attached to it. A virtual device's
            Chromium keeps it to the proxy by a flag; a phone's WebView takes no flags.
        websockets: `judged` where they go through the gate; `unjudged` without one, because interception does not see
            them (nor what shared and service workers ask).
        host_features: What the host app says it offers: proxy, profiles, downloads, capture, …
    """

    webview: str
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AttachedCapabilities:
    """How far the pages of an app that is not ours are held to the policy; the fields mean what `Capabilities`' do."""

    fetch_interception: bool
    webrtc: str
    egress: str = "unpinned"
    websockets: str = "unjudged"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def require_supported(hello: HostHello) -> None:
    """Refuse a WebView below the support floor.

    Raises:
        WebViewTooOld: With the way to update.
    """
    major = re.match(r"[0-9]{1,9}\b", hello.webview_version)
    if major and int(major[0]) < OLDEST_WEBVIEW:
        raise WebViewTooOld(
            f"{hello.webview_package} {hello.webview_version} is older than {OLDEST_WEBVIEW}",
            hint="Update Android System WebView in the Play Store, or use an emulator image with a newer one.",
        )


async def probe(
    attachment: Attachment, hello: HostHello, *, fetch_interception: bool, egress: str, webrtc: str, timeout_s: float
) -> Capabilities:
    """Ask the engine, in one round trip; how far the policy holds is known already."""
    view, beyond = _begin_beyond(attachment)
    calls = {name: attachment.connection.send(method, params) for name, (method, params) in _PROBES.items()}
    found: dict[str, bool] = {}
    for name, call in calls.items():
        found[name] = await _answers(call, timeout_s)
    drawn = await _picture(beyond, timeout_s)
    full_page = _found(drawn) if drawn and _is_ours(attachment) else None
    if _is_ours(attachment):
        attachment.connection.send("Runtime.evaluate", {"expression": _WIPE}).abandon()
        if full_page == "cdp-beyond-viewport" and view is not None:
            await _see_as_before(attachment, view, timeout_s)
    main = attachment.state.main
    return Capabilities(
        webview=f"{hello.webview_package} {hello.webview_version}",
        api_level=hello.api_level,
        capture="cdp" if drawn else "host",
        full_page=full_page,
        isolated_worlds=bool(main and attachment.state.world_of(main.frame_id, WORLD_NAME)),
        host_features=tuple(name for name, offered in hello.features.items() if offered and offered != "none"),
        fetch_interception=fetch_interception,
        egress=egress,
        webrtc=webrtc,
        websockets="judged" if egress == "pinned" else "unjudged",
        **found,
    )


def _begin_beyond(attachment: Attachment) -> tuple[PendingCall | None, PendingCall]:
    """Ask for the view's size, and a picture of more than it; on our own blank page, black above and white below."""
    send = attachment.connection.send
    if not _is_ours(attachment):
        return None, send("Page.captureScreenshot", {"format": "jpeg", "quality": 1})
    view = send("Runtime.evaluate", {"expression": _PAINT, "returnByValue": True})
    # WebView takes the clip's size and answers with the view, repeated (Chromium, CreateTiledBitmap).
    clip = {"x": 0, "y": 0, "width": _PROBE_WIDTH, "height": _PROBE_HEIGHT, "scale": 1}
    return view, send("Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True})


async def _see_as_before(attachment: Attachment, view: PendingCall, timeout_s: float) -> None:
    """Put the pixel ratio back where the capture has ended it."""
    try:
        width, height, dpr = (await view.result(timeout_s=timeout_s))["result"]["value"]
        now = await attachment.call("Runtime.evaluate", {"expression": "devicePixelRatio"}, timeout_s=timeout_s)
        if now["result"]["value"] != dpr:
            await pretend_view(attachment, width, height, dpr, timeout_s=timeout_s)
    except (ProtocolError, DeadlineExceeded, KeyError, TypeError, ValueError) as error:
        _log.debug("the view may be another one since the probe: %r", error)


def _is_ours(attachment: Attachment) -> bool:
    main = attachment.state.main
    return main is not None and main.url.startswith("about:blank")


async def _picture(call: PendingCall, timeout_s: float) -> bytes:
    try:
        return picture_bytes(await call.result(timeout_s=timeout_s))
    except (ProtocolError, DeadlineExceeded, CaptureFailed):
        return b""


def _found(image: bytes) -> Strategy:
    bitmap = decoded(image)
    if bitmap.height < _PROBE_HEIGHT:  # more of them where the device has more pixels than CSS px
        return "scroll-and-stitch"
    top, bottom = bitmap.getpixel((1, 1)), bitmap.getpixel((1, bitmap.height - 2))
    return "cdp-beyond-viewport" if top != bottom else "scroll-and-stitch"


async def _answers(call: Any, timeout_s: float) -> bool:
    try:
        await call.result(timeout_s=timeout_s)
    except (ProtocolError, DeadlineExceeded):
        return False
    return True
