"""WebSockets in the network log and in HARs: durations and sizes, without message contents."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import ServerConnection, serve

from bridge import Session, TestServerGrant
from bridge.page.logs.request_log import RequestStore
from bridge.page.page import Page
from tests.conftest import LocalServer


@pytest.fixture
async def echo_port() -> AsyncIterator[int]:
    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)
            await connection.send(b"\0\1\2\3\4")

    async with serve(echo, "127.0.0.1", 0) as server:
        yield next(iter(server.sockets)).getsockname()[1]


TALK = """new Promise(done => {
  const it = new WebSocket('ws://127.0.0.1:%d/talk'); let heard = 0;
  it.onopen = () => it.send('geheim ✓');
  it.onmessage = () => { if (++heard == 2) it.close(); };
  it.onclose = () => done(heard);
})"""


@pytest.mark.browser
async def test_a_websocket_is_logged_from_handshake_to_close_without_its_messages(
    webview_device: str, local_server: LocalServer, echo_port: int
) -> None:
    grants = [local_server.grant, TestServerGrant("127.0.0.1", echo_port)]
    async with Session.open(webview_device, grants=grants) as session:
        page: Page = await session.new_page(local_server.url("second.html"))
        attachment = await page.attached()
        talk = {"expression": TALK % echo_port, "awaitPromise": True, "returnByValue": True}
        assert (await attachment.call("Runtime.evaluate", talk, timeout_s=10))["result"]["value"] == 2
        (entry,) = page.network(resource_type="websocket").entries
        assert (entry.status, entry.state, entry.url) == (101, "done", f"ws://127.0.0.1:{echo_port}/talk")
        assert (entry.messages_sent, entry.post_bytes) == (1, len("geheim ✓".encode()))
        assert (entry.messages_received, entry.body_bytes) == (2, len("geheim ✓".encode()) + 5)
        archive = page.har()
        found = [one for one in archive["log"]["entries"] if one["_resourceType"] == "websocket"]
        assert [one["_webSocketMessages"] for one in found] == [{"sent": 1, "received": 2}]
        assert found[0]["response"]["status"] == 101
        assert found[0]["time"] > 0
        assert "geheim" not in json.dumps(archive, ensure_ascii=False)


def test_a_websocket_that_is_refused_has_failed() -> None:
    log = RequestStore(10)
    reducer = log.reducer("t1")
    for method, more in (
        ("webSocketCreated", {"url": "wss://a.example/"}),
        ("webSocketFrameError", {"errorMessage": "Error during WebSocket handshake"}),
        ("webSocketClosed", {"timestamp": 7.0}),
    ):
        reducer.reduce(f"Network.{method}", {"requestId": "9", **more})
    (entry,) = log
    assert (entry.state, entry.failure) == ("failed", "Error during WebSocket handshake")
