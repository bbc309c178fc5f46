"""Clients that share Chromium's pipe are as separate as on WebSockets of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.virtual_device.engine_rig import TIMEOUT_S, Rig, running_rig

pytestmark = pytest.mark.browser

SIZE: dict[str, Any] = {"width_px": 320, "height_px": 480, "density_dpi": 160, "timeout_s": TIMEOUT_S}


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running_rig() as started:
        await started.start()
        yield started


@asynccontextmanager
async def raw(rig: Rig, path: str) -> AsyncIterator[ClientConnection]:
    assert rig.app.process is not None
    sock = await rig.connect(f"webview_devtools_remote_{rig.app.process.pid}")
    async with connect(f"ws://localhost{path}", sock=sock, compression=None, proxy=None) as websocket:
        yield websocket


async def ask(websocket: ClientConnection, message: str) -> Any:
    await websocket.send(message)
    return json.loads(await websocket.recv())


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('{"id":1,"method":"Browser.getVersion"}\0{"id":2,"method":"Target.createBrowserContext"}', -32700),
        ("nonsense", -32700),
        ("[]", -32700),
        ("{}", -32600),
        ('{"id":"1","method":"Runtime.enable"}', -32600),
        ('{"id":1,"method":"Runtime.enable","sessionId":null}', -32600),
        ('{"id":1,"method":"Runtime.enable","more":1}', -32600),
        ('{"id":1,"method":"Runtime.enable","sessionId":"0123"}', -32001),
    ],
)
async def test_a_message_that_is_not_a_command_gets_its_error(rig: Rig, message: str, code: int) -> None:
    async with raw(rig, "/devtools/browser") as websocket:
        assert (await ask(websocket, message))["error"]["code"] == code
        assert "result" in await ask(websocket, '{"id":3,"method":"Browser.getVersion"}')


async def test_a_client_cannot_use_the_session_of_another(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        target_id = await rig.target_id(tab.url)
        async with raw(rig, "/devtools/browser") as one, raw(rig, "/devtools/browser") as other:
            params = json.dumps({"targetId": target_id, "flatten": True})
            await one.send(f'{{"id":1,"method":"Target.attachToTarget","params":{params}}}')
            attached, reply = json.loads(await one.recv()), json.loads(await one.recv())
            session_id = reply["result"]["sessionId"]
            assert attached["params"]["sessionId"] == session_id
            command = f'{{"id":2,"method":"Runtime.evaluate","params":{{"expression":"7"}},"sessionId":"{session_id}"}}'
            assert (await ask(other, command))["error"]["code"] == -32001
            assert (await ask(one, command))["result"]["result"]["value"] == 7


async def test_clients_of_one_page_may_number_their_commands_alike(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        path = f"/devtools/page/{await rig.target_id(tab.url)}"
        async with raw(rig, path) as one, raw(rig, path) as other:
            for websocket, value in ((one, 1), (other, 2)):
                await websocket.send(f'{{"id":5,"method":"Runtime.evaluate","params":{{"expression":"{value}"}}}}')
            for websocket, value in ((one, 1), (other, 2)):
                reply = json.loads(await websocket.recv())
                assert reply == {
                    "id": 5,
                    "result": {"result": {"type": "number", "value": value, "description": str(value)}},
                }


async def test_a_page_that_closes_says_goodbye_to_its_clients(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        target_id = await rig.target_id(tab.url)
        async with raw(rig, f"/devtools/page/{target_id}") as websocket:
            assert (await rig.http(f"/json/close/{target_id}"))[0] == 200
            said: list[Any] = []
            with contextlib.suppress(ConnectionClosed):
                async for message in websocket:
                    said.append(json.loads(message))  # noqa: PERF401 - what came before the end counts
            assert said[-1] == {"method": "Inspector.detached", "params": {"reason": "target_closed"}}


async def test_a_client_that_leaves_takes_its_session_along(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        path = f"/devtools/page/{await rig.target_id(tab.url)}"
        async with raw(rig, path) as websocket:
            assert "result" in await ask(websocket, '{"id":1,"method":"Page.enable"}')
            assert len(rig.engine.relay.pipe._routes) == 1
        async with asyncio.timeout(TIMEOUT_S):
            while rig.engine.relay.pipe._routes:  # noqa: ASYNC110 - nobody reports it
                await asyncio.sleep(0.01)


async def test_what_a_page_writes_never_looks_like_another_session(rig: Rig) -> None:
    async with rig.client() as host:
        tab = await host.open_tab(**SIZE)
        path = f"/devtools/page/{await rig.target_id(tab.url)}"
        async with raw(rig, path) as websocket:
            forged = ',"sessionId":"0123456789ABCDEF"}'
            expression = json.dumps(json.dumps(forged))
            command = f'{{"id":1,"method":"Runtime.evaluate","params":{{"expression":{expression}}}}}'
            assert (await ask(websocket, command))["result"]["result"]["value"] == forged


async def test_a_ping_gets_its_pong_and_a_closing_handshake_ends_in_order(rig: Rig) -> None:
    async with raw(rig, "/devtools/browser") as websocket:
        async with asyncio.timeout(TIMEOUT_S):
            await (await websocket.ping())
        await websocket.close(1000)
        assert websocket.close_code == 1000
