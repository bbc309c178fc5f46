"""Commands and their replies, over a real socket."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from typing import Any

import pytest
from devtools_peer import Devtools, answer_all, event, read_command, reply
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve

from bridge.cdp import open_cdp
from bridge.errors import DeadlineExceeded, ProtocolError, TransportError


async def test_a_call_returns_the_result_of_its_command(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        assert await connection.call("A.b", {"x": 1}, timeout_s=20) == {"method": "A.b", "params": {"x": 1}}


async def test_replies_out_of_order_reach_their_callers(devtools: Devtools) -> None:
    async def backwards(websocket: ServerConnection) -> None:
        commands = [await read_command(websocket) for _ in range(3)]
        for command in reversed(commands):
            await websocket.send(reply(command, method=command["method"]))

    async with devtools(backwards) as connection:
        calls = [connection.send(name) for name in ("A.a", "B.b", "C.c")]
        assert [(await call.result(timeout_s=20))["method"] for call in calls] == ["A.a", "B.b", "C.c"]


async def test_commands_are_sent_in_order_without_waiting(devtools: Devtools) -> None:
    arrived: list[int] = []

    async def note(websocket: ServerConnection) -> None:
        commands = [await read_command(websocket) for _ in range(200)]
        arrived.extend(command["params"]["n"] for command in commands)
        for command in commands:
            await websocket.send(reply(command))

    async with devtools(note) as connection:
        calls = [connection.send("A.b", {"n": n}) for n in range(200)]
        for call in calls:
            await call.result(timeout_s=20)
    assert arrived == list(range(200))


async def test_a_refused_command_raises_the_browsers_error(devtools: Devtools) -> None:
    async def refuse(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(json.dumps({"id": command["id"], "error": {"code": -32601, "message": "wasn't found"}}))

    async with devtools(refuse) as connection:
        with pytest.raises(ProtocolError, match=r"No\.such failed: wasn't found \(-32601\)"):
            await connection.call("No.such", timeout_s=20)


async def test_a_call_that_times_out_leaves_nothing_and_its_late_reply_is_ignored(devtools: Devtools) -> None:
    late = asyncio.Event()

    async def slow(websocket: ServerConnection) -> None:
        first = await read_command(websocket)
        await late.wait()
        await websocket.send(reply(first, late=True))
        await answer_all(websocket)

    async with devtools(slow) as connection:
        with pytest.raises(DeadlineExceeded, match=r"Slow\.one timed out after 0\.1 s; last seen: the connec"):
            await connection.call("Slow.one", timeout_s=0.1)
        assert connection.in_flight == 0
        late.set()
        assert (await connection.call("Next.one", timeout_s=20))["method"] == "Next.one"


async def test_a_cancelled_call_leaves_nothing(devtools: Devtools) -> None:
    heard = asyncio.Event()

    async def silent(websocket: ServerConnection) -> None:
        await read_command(websocket)
        heard.set()
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = asyncio.create_task(connection.call("A.b", timeout_s=60))
        await asyncio.wait_for(heard.wait(), 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert connection.in_flight == 0


async def test_awaiting_an_abandoned_call_raises(devtools: Devtools) -> None:
    async def silent(websocket: ServerConnection) -> None:
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = connection.send("A.b")
        call.abandon()
        assert connection.in_flight == 0
        with pytest.raises(TransportError, match="abandoned"):
            await call.result(timeout_s=20)


async def test_an_unawaited_error_is_not_logged_by_asyncio(
    devtools: Devtools, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse_first(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(json.dumps({"id": command["id"], "error": {"code": 1, "message": "no"}}))
        await answer_all(websocket)

    async with devtools(refuse_first) as connection:
        connection.send("A.b")
        await connection.call("C.d", timeout_s=20)
        assert connection.in_flight == 0
        gc.collect()
    assert "never retrieved" not in caplog.text


async def test_a_call_whose_session_detaches_fails_at_once(devtools: Devtools) -> None:
    async def detach(websocket: ServerConnection) -> None:
        await read_command(websocket)
        await websocket.send(event("Target.detachedFromTarget", sessionId="S"))
        await websocket.wait_closed()

    async with devtools(detach) as connection:
        with pytest.raises(TransportError, match="session S was detached"):
            await connection.call("A.b", session_id="S", timeout_s=20)


async def test_a_reply_of_many_megabytes_arrives_whole(devtools: Devtools) -> None:
    text = "é" * 4_000_000

    async def verbose(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(json.dumps({"id": command["id"], "result": {"text": text}}, ensure_ascii=False))

    async with devtools(verbose) as connection:
        assert (await connection.call("A.b", timeout_s=20))["text"] == text


async def test_many_commands_to_a_peer_that_does_not_read_end_at_their_deadlines(devtools: Devtools) -> None:
    async def deaf(websocket: ServerConnection) -> None:
        websocket.transport.pause_reading()
        await websocket.wait_closed()

    async with devtools(deaf) as connection:
        calls = [connection.send("A.b", {"x": "y" * 1_000_000}) for _ in range(20)]
        with pytest.raises(DeadlineExceeded):
            await calls[-1].result(timeout_s=0.2)
        for call in calls:
            call.abandon()
        assert connection.in_flight == 0


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(1, 60), min_size=1, max_size=20), fragments=st.integers(1, 5))
def test_messages_do_not_depend_on_how_bytes_are_split(cuts: list[int], fragments: int) -> None:
    """Between the connection and its peer stands a pipe that passes on as many bytes at a time as `cuts` say."""
    results = asyncio.run(_through_a_cutting_pipe(cuts, fragments))
    assert results == [{"n": n, "text": "é" * 50} for n in range(4)]


async def _through_a_cutting_pipe(cuts: list[int], fragments: int) -> list[dict[str, Any]]:
    async def answer_in_fragments(websocket: ServerConnection) -> None:
        async for text in websocket:
            command = json.loads(text)
            answer = json.dumps({"id": command["id"], "result": command["params"]}, ensure_ascii=False)
            size = -(-len(answer) // fragments)
            await websocket.send([answer[start : start + size] for start in range(0, len(answer), size)])

    async with serve(answer_in_fragments, "127.0.0.1", 0, compression=None) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        near, far = socket.socketpair()
        near.setblocking(False)
        far_reader, far_writer = await asyncio.open_connection(sock=far)

        async def pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            turn = 0
            while piece := await source.read(cuts[turn % len(cuts)]):
                target.write(piece)
                await target.drain()
                await asyncio.sleep(0)
                turn += 1
            target.close()

        async with asyncio.TaskGroup() as pipes:
            pipes.create_task(pipe(reader, far_writer))
            pipes.create_task(pipe(far_reader, writer))
            async with open_cdp(near, "/x", timeout_s=10) as connection:
                calls = [connection.send("A.b", {"n": n, "text": "é" * 50}) for n in range(4)]
                return [await call.result(timeout_s=10) for call in calls]
