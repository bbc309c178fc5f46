"""Who else may come to the live view's port, and does not get in the person's way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack
from socket import create_connection

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from bridge.page.page import Page
from bridge.surfaces.live_view import LiveView, live_view

pytestmark = pytest.mark.browser

LIMIT_S = 30
# Nothing, half a request, a TLS client, a header without an end.
UNFINISHED = (b"", b"GET /live HTTP/1.1\r\nHost: ", b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000)


@pytest.fixture
async def view(page: Page) -> AsyncIterator[LiveView]:
    async with live_view(page) as view:
        yield view


def port_of(view: LiveView) -> int:
    return int(view.url.split(":")[2].split("/")[0])


def hello(key: str) -> str:
    return json.dumps({"kind": "hello", "key": key})


def viewer_of(view: LiveView) -> connect:
    port = port_of(view)
    return connect(f"ws://127.0.0.1:{port}/live", origin=f"http://127.0.0.1:{port}")  # type: ignore[arg-type]


async def test_a_second_viewer_is_refused_with_a_message(view: LiveView) -> None:
    async with asyncio.timeout(LIMIT_S), viewer_of(view) as first:
        await first.send(hello(view.url.partition("#")[2]))
        welcome = json.loads(await first.recv())
        async with viewer_of(view) as second:
            await second.send(hello(welcome["key"]))
            with pytest.raises(ConnectionClosed):
                await second.recv()
            assert second.close_code == 4000
        assert await first.recv()


async def test_a_connection_that_never_becomes_a_viewer_blocks_no_other(view: LiveView) -> None:
    with ExitStack() as held:
        for sent in (
            b"",
            b"GET /live HTTP/1.1\r\nHost: ",
            b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/1.1\r\nX: " + b"a" * 60_000,
        ):
            for _ in range(20):
                other = held.enter_context(create_connection(("127.0.0.1", port_of(view)), timeout=LIMIT_S))
                other.sendall(sent)
        async with asyncio.timeout(LIMIT_S), viewer_of(view) as person:
            await person.send(hello(view.url.partition("#")[2]))
            assert json.loads(await person.recv())["kind"] == "welcome"


async def test_a_message_that_is_too_long_ends_its_connection_and_not_the_view(view: LiveView) -> None:
    async with asyncio.timeout(LIMIT_S), viewer_of(view) as other:
        await other.send("x" * 100_000)
        with pytest.raises(ConnectionClosed):
            await other.recv()
        assert other.close_code == 1009
    async with asyncio.timeout(LIMIT_S), viewer_of(view) as person:
        await person.send(hello(view.url.partition("#")[2]))
        assert json.loads(await person.recv())["kind"] == "welcome"
