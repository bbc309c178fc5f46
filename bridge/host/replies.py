"""Parses replies of the host app: its hello, its tabs, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.errors import (
    BridgeError,
    DeviceBusy,
    HostFailed,
    HostProtocolError,
    HostUnproven,
    HostVersionMismatch,
    TabLost,
)
from bridge.host.protocol import ControlError

INSTALL_HINT = "Install the host app of this version: webview-bridge host install"


@dataclass(frozen=True)
class HostHello:
    """The hello reply; `webview` has package, version_name and version_code, None if unknown."""

    protocol: int
    app_version: str
    webview: Mapping[str, Any]
    api_level: int
    pid: int
    devtools_socket: str
    max_tabs: int
    max_capture_height_px: int
    idle_timeout_s: int
    features: Mapping[str, Any]

    @property
    def webview_package(self) -> str:
        """The package of the WebView provider, "" if unknown."""
        return str(self.webview.get("package") or "")

    @property
    def webview_version(self) -> str:
        """The version name of the WebView provider ("113.0.5672.136"), "" if unknown."""
        return str(self.webview.get("version_name") or "")


@dataclass(frozen=True)
class HostReply:
    fields: Mapping[str, Any]
    body: bytes = b""

    def text(self, kind: str, name: str) -> str:
        """A text field of the reply; HostProtocolError if it is missing."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value:
            raise HostProtocolError(f"the host's reply to {kind} has no {name}.")
        return value


@dataclass(frozen=True)
class HostTab:
    """A tab of the host. Its page is at `url`, which contains `nonce`, until it navigates."""

    tab: str
    nonce: str
    url: str


def failure(kind: str, reply: ControlError) -> BridgeError:
    """The error for an error reply to a request of that kind."""
    match reply.code:
        case "device_busy":
            busy = f"the host app is in use by {reply.facts.get('owner', 'another owner')}."
            return _with_facts(DeviceBusy(busy, hint="Wait until it ends, or use another device."), reply.facts)
        case "unproven":
            return HostUnproven(f"the host app did not accept the token: {reply.message}")
        case "version_mismatch":
            return HostVersionMismatch(reply.message, hint=INSTALL_HINT)
        case "no_such_tab":
            return _with_facts(TabLost(reply.message), reply.facts)
        case "bad_frame" | "hello_required":
            return HostProtocolError(f"the host app refused {kind}: {reply.code}: {reply.message}")
        case _:
            return HostFailed(kind, reply.code, reply.message)


def _with_facts(error: BridgeError, facts: Mapping[str, Any]) -> BridgeError:
    """Adds the fields as data, not as keyword arguments: an unauthenticated peer chooses their names."""
    error.details.update(facts)
    return error


def hello_of(fields: Mapping[str, Any]) -> HostHello:
    """Parses the reply to `hello`; HostProtocolError if a field is missing or has another type."""
    kinds: dict[str, type] = {
        "protocol": int,
        "app_version": str,
        "webview": dict,
        "api_level": int,
        "pid": int,
        "devtools_socket": str,
        "max_tabs": int,
        "max_capture_height_px": int,
        "idle_timeout_s": int,
        "features": dict,
    }
    for name, kind in kinds.items():
        if not isinstance(fields.get(name), kind):
            raise HostProtocolError(f"the host's hello has {fields.get(name)!r} as {name}.")
    return HostHello(**{name: fields[name] for name in kinds})
