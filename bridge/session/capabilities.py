"""What this WebView can do, asked once: strategies are chosen from the answers, never from a version number."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bridge.errors import DeadlineExceeded, ProtocolError, WebViewTooOld
from bridge.host.client import HostHello
from bridge.page.attachment import WORLD_NAME, Attachment

OLDEST_WEBVIEW = 74
# Harmless commands, each of which exists only where the feature does.
_PROBES = {
    "file_input": ("Page.setInterceptFileChooserDialog", {"enabled": False}),
    "emulation": ("Emulation.clearGeolocationOverride", {}),
    "screencast": ("Page.stopScreencast", {}),
    "focus_emulation": ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One record per session.

    Attributes:
        webview: Package and version of the engine, as the host app reports it.
        capture: `cdp`, or `host` where the engine cannot capture over CDP.
        isolated_worlds: Whether the script runs where pages cannot see it.
        egress: `pinned` where everything goes through the egress gate, which resolves once; else `unpinned`.
        webrtc: `blocked` where pages have neither WebRTC nor WebTransport, which go around a proxy; else `open`.
        host_features: What the host app says it offers: proxy, profiles, downloads, capture, …
    """

    webview: str
    api_level: int
    capture: str
    isolated_worlds: bool
    file_input: bool
    emulation: bool
    screencast: bool
    focus_emulation: bool
    host_features: tuple[str, ...]
    fetch_interception: bool
    egress: str
    webrtc: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def require_supported(hello: HostHello) -> None:
    """Refuse a WebView below the support floor.

    Raises:
        WebViewTooOld: With the way to update.
    """
    major = hello.webview_version.split(".")[0]
    if major.isdigit() and int(major) < OLDEST_WEBVIEW:
        raise WebViewTooOld(
            f"{hello.webview_package} {hello.webview_version} is older than {OLDEST_WEBVIEW}",
            hint="Update Android System WebView in the Play Store, or use an emulator image with a newer one.",
        )


async def probe(
    attachment: Attachment, hello: HostHello, *, fetch_interception: bool, egress: str, webrtc: str, timeout_s: float
) -> Capabilities:
    """Ask the engine, in one round trip; how far the policy holds is known already."""
    capture = attachment.connection.send("Page.captureScreenshot", {"format": "jpeg", "quality": 1})
    calls = {name: attachment.connection.send(method, params) for name, (method, params) in _PROBES.items()}
    found: dict[str, bool] = {}
    for name, call in calls.items():
        found[name] = await _answers(call, timeout_s)
    main = attachment.state.main
    return Capabilities(
        webview=f"{hello.webview_package} {hello.webview_version}",
        api_level=hello.api_level,
        capture="cdp" if await _answers(capture, timeout_s) else "host",
        isolated_worlds=bool(main and attachment.state.world_of(main.frame_id, WORLD_NAME)),
        host_features=tuple(hello.features),
        fetch_interception=fetch_interception,
        egress=egress,
        webrtc=webrtc,
        **found,
    )


async def _answers(call: Any, timeout_s: float) -> bool:
    try:
        await call.result(timeout_s=timeout_s)
    except (ProtocolError, DeadlineExceeded):
        return False
    return True
