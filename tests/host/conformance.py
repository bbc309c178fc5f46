"""What the conformance tests say to a host."""

from __future__ import annotations

import struct
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from control_wire import Host, fresh_nonce

from bridge.errors import HostFailed
from bridge.host import HostClient, connect_host
from bridge.host.protocol import client_proof

TIMEOUT_S = 20.0


SIZE: dict[str, Any] = {"width_px": 320, "height_px": 480, "density_dpi": 160}


PNG = b"\x89PNG\r\n\x1a\n"


def connected(host: Host, sock: Any, **changes: Any) -> AbstractAsyncContextManager[HostClient]:
    facts: dict[str, Any] = {
        "token": host.token,
        "socket_name": host.socket_name,
        "owner": "conformance",
        "policy_digest": "",
        "timeout_s": TIMEOUT_S,
    }
    return connect_host(sock, **(facts | changes))


def hello(host: Host, **changes: Any) -> dict[str, Any]:
    nonce = fresh_nonce()
    fields = {
        "id": 1,
        "type": "hello",
        "protocol": 1,
        "client": "webview-bridge/0",
        "owner": "conformance",
        "policy": "",
        "nonce": nonce,
        "proof": client_proof(host.token, nonce, host.socket_name),
    }
    return fields | changes


def framed(header: bytes) -> bytes:
    return struct.pack(">II", len(header), 0) + header


async def refused(client: HostClient, type: str, **fields: Any) -> HostFailed:
    with pytest.raises(HostFailed) as caught:
        await client.request(type, timeout_s=TIMEOUT_S, **fields)
    return caught.value
