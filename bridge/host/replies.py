"""What the host app says, as values of ours: who it is, its tabs, and the errors that its codes stand for."""

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
from bridge.host.protocol import ErrorReply

INSTALL_HINT = "Install the host app of this version: webview-bridge host install"


@dataclass(frozen=True)
class HostHello:
    """What the host says of itself; `webview` has package, version_name and version_code, None where unknown."""

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
        """The provider's package, "" when the device does not tell."""
        return str(self.webview.get("package") or "")

    @property
    def webview_version(self) -> str:
        """The provider's version name ("113.0.5672.136"), "" when the device does not tell."""
        return str(self.webview.get("version_name") or "")


@dataclass(frozen=True)
class HostReply:
    fields: Mapping[str, Any]
    body: bytes = b""

    def text(self, kind: str, name: str) -> str:
        """A field that a reply to a request of that kind has; HostProtocolError when this one has it not."""
        value = self.fields.get(name)
        if not isinstance(value, str) or not value:
            raise HostProtocolError(f"the host's reply to {kind} has no {name}.")
        return value


@dataclass(frozen=True)
class HostTab:
    """A tab as the host names it; its page is at `url` until it navigates, and `nonce` is in that URL."""

    tab: str
    nonce: str
    url: str


def failure(kind: str, reply: ErrorReply) -> BridgeError:
    """The error of the tree for an error reply to a request of that kind."""
    match reply.code:
        case "device_busy":
            busy = f"the host app is in use by {reply.facts.get('owner', 'somebody else')}."
            return _with_facts(DeviceBusy(busy, hint="Let it finish, or use another device."), reply.facts)
        case "unproven":
            return HostUnproven(f"the host app did not accept our token: {reply.message}")
        case "version_mismatch":
            return HostVersionMismatch(reply.message, hint=INSTALL_HINT)
        case "no_such_tab":
            return _with_facts(TabLost(reply.message), reply.facts)
        case "bad_frame" | "hello_required":
            return HostProtocolError(f"the host app refused {kind}: {reply.code}: {reply.message}")
        case _:
            return HostFailed(kind, reply.code, reply.message)


def _with_facts(error: BridgeError, facts: Mapping[str, Any]) -> BridgeError:
    """Not as keywords: what they are called is the peer's choice, and nobody has proven itself yet."""
    error.details.update(facts)
    return error


def hello_of(fields: Mapping[str, Any]) -> HostHello:
    """The reply to `hello`; HostProtocolError when a field is missing or of another type."""
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
