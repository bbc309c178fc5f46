"""The client of the control protocol with a peer that is frozen, foreign, or gone."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from bridge.errors import (
    DeadlineExceeded,
    DeviceBusy,
    HostFailed,
    HostLost,
    HostProtocolError,
    HostUnproven,
    HostVersionMismatch,
    TabLost,
)
from bridge.host import HostClient, connect_host
from bridge.host.protocol import FrameReader, encode_frame, host_proof

TOKEN, NAME = bytes(range(32)), "webview_bridge_peer"


class Peer:
    """The host's end of a socket pair, by hand."""

    def __init__(self) -> None:
        self.sock, self.theirs = socket.socketpair()
        for end in (self.sock, self.theirs):
            end.setblocking(False)
        self._frames = FrameReader()

    async def receive(self) -> dict[str, Any]:
        while (frame := self._frames.next_frame()) is None:
            self._frames.feed(await asyncio.get_running_loop().sock_recv(self.sock, 65536))
        return frame.header

    async def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        await self.send_bytes(encode_frame(header, body))

    async def send_bytes(self, piece: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.sock, piece)

    async def greet(self, **changes: Any) -> None:
        hello = await self.receive()
        nonce = "ab" * 16
        reply = {
            "id": hello["id"],
            "ok": True,
            "protocol": 1,
            "app_version": "0.1.0",
            "webview": {"package": None, "version_name": None, "version_code": None},
            "api_level": 30,
            "pid": 7,
            "devtools_socket": "webview_devtools_remote_7",
            "max_tabs": 8,
            "max_capture_height_px": 10_000,
            "idle_timeout_s": 300,
            "features": {},
            "nonce": nonce,
            "proof": host_proof(TOKEN, hello["nonce"], nonce, NAME),
        }
        await self.send(reply | changes)


def connecting(peer: Peer, timeout_s: float = 10.0) -> AbstractAsyncContextManager[HostClient]:
    return connect_host(peer.theirs, token=TOKEN, socket_name=NAME, owner="test", policy_digest="", timeout_s=timeout_s)


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    yield made
    made.sock.close()


@asynccontextmanager
async def connected(peer: Peer, **changes: Any) -> AsyncIterator[HostClient]:
    greeting = asyncio.create_task(peer.greet(**changes))
    try:
        async with connecting(peer) as client:
            yield client
    finally:
        await greeting


async def test_a_host_that_does_not_know_the_token_is_refused(peer: Peer) -> None:
    with pytest.raises(HostUnproven, match="does not know the token"):
        async with connected(peer, proof="0" * 64):
            pass


async def test_another_protocol_is_refused_with_the_fix(peer: Peer) -> None:
    with pytest.raises(HostVersionMismatch, match="speaks protocol 3") as caught:
        async with connected(peer, protocol=3):
            pass
    assert "host install" in caught.value.hint


async def test_a_hello_without_its_fields_is_named(peer: Peer) -> None:
    with pytest.raises(HostProtocolError, match="devtools_socket"):
        async with connected(peer, devtools_socket=None):
            pass


async def test_a_frozen_host_ends_in_the_deadline(peer: Peer) -> None:
    with pytest.raises(DeadlineExceeded, match="host hello"):
        async with connecting(peer, timeout_s=0.1):
            pass
    assert peer.theirs.fileno() == -1


async def test_hanging_up_settles_every_waiter(peer: Peer) -> None:
    async with connected(peer) as client:
        waiting = [asyncio.create_task(client.stats(timeout_s=10)) for _ in range(3)]
        for _ in waiting:
            await peer.receive()
        peer.sock.close()
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(outcome, HostLost)
        with pytest.raises(HostLost, match="was not sent"):
            await client.stats(timeout_s=10)


async def test_leaving_settles_every_waiter(peer: Peer) -> None:
    async with connected(peer) as client:
        waiting = asyncio.create_task(client.stats(timeout_s=10))
        await peer.receive()
    with pytest.raises(HostLost):
        await waiting


async def test_a_late_reply_is_ignored(peer: Peer) -> None:
    async with connected(peer) as client:
        with pytest.raises(DeadlineExceeded):
            await client.stats(timeout_s=0.05)
        late = await peer.receive()
        second = asyncio.create_task(client.stats(timeout_s=10))
        asked = await peer.receive()
        await peer.send({"id": late["id"], "ok": True, "tabs": 1})
        await peer.send({"id": asked["id"], "ok": True, "tabs": 2})
        assert (await second)["tabs"] == 2


async def test_a_cancelled_request_leaves_nothing_behind(peer: Peer) -> None:
    async with connected(peer) as client:
        task = asyncio.create_task(client.stats(timeout_s=10))
        await peer.receive()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert client._waiting == {}


async def test_errors_carry_the_hosts_code(peer: Peer) -> None:
    async with connected(peer) as client:
        task = asyncio.create_task(client.request("capture", tab="1", timeout_s=10))
        asked = await peer.receive()
        await peer.send({"id": asked["id"], "error": {"code": "capture_failed", "message": "no frame"}})
        with pytest.raises(HostFailed, match="no frame") as caught:
            await task
        assert caught.value.host_code == "capture_failed"


@pytest.mark.parametrize("code", ["device_busy", "no_such_tab"])
async def test_what_an_unproven_peer_calls_its_facts_breaks_nothing(peer: Peer, code: str) -> None:
    async def refuse() -> None:
        hello = await peer.receive()
        facts = {"hint": "x", "self": "y", "message": "z", "owner": "somebody"}
        await peer.send({"id": hello["id"], "error": {"code": code, "message": "no", **facts}})

    refusing = asyncio.create_task(refuse())
    with pytest.raises((DeviceBusy, TabLost)) as caught:
        async with connecting(peer):
            pass
    await refusing
    assert caught.value.details["self"] == "y"
    assert caught.value.hint != "x"


async def test_a_route_that_ends_is_a_lost_host_and_not_a_wait() -> None:
    reader = asyncio.StreamReader()
    near, far = socket.socketpair()
    with far:
        _, writer = await asyncio.open_connection(sock=near)
        client = HostClient(reader, writer, NAME)
        reading = asyncio.create_task(client._read())
        reader.set_exception(OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH)))
        await asyncio.wait_for(client.closed.wait(), 30)
        await reading
        with pytest.raises(HostLost, match="No route to host"):
            await client.touch(timeout_s=20)
        writer.close()


@pytest.mark.parametrize(
    "piece",
    [struct.pack(">II", 2, 0) + b"[]", struct.pack(">II", 2**31, 0), struct.pack(">II", 2, 0) + b"{}"],
    ids=["no object", "long header", "no message"],
)
async def test_a_host_that_breaks_the_rules_is_cut_off(peer: Peer, piece: bytes) -> None:
    async with connected(peer) as client:
        waiting = asyncio.create_task(client.stats(timeout_s=10))
        await peer.receive()
        await peer.send_bytes(piece)
        with pytest.raises(HostProtocolError):
            await waiting


async def test_events_come_to_reducers_first_and_the_queue_is_bounded(peer: Peer) -> None:
    seen: list[str] = []

    def broken(_name: str, _fields: object) -> None:
        raise RuntimeError("a bug of the listener")

    async with connected(peer) as client:
        client.on_event(broken)
        remove = client.on_event(lambda name, fields: seen.append(f"{name} {fields['tab']}"))
        with client.events("popup", maxlen=2) as popups:
            for tab in "123":
                await peer.send({"event": "popup", "tab": tab})
            await peer.send({"event": "download", "tab": "9"})
            task = asyncio.create_task(client.stats(timeout_s=10))
            asked = await peer.receive()
            await peer.send({"id": asked["id"], "ok": True})
            await task
            remove()
            peer.sock.close()
            assert [event.fields["tab"] async for event in popups] == ["2", "3"]
            assert popups.dropped == 1
    assert seen == ["popup 1", "popup 2", "popup 3", "download 9"]
