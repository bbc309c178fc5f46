"""A connection and its other end, over a real socket."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import struct
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from devtools_peer import answer_all, dial, event, read_command, reply
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from bridge.cdp import CdpConnection, open_cdp
from bridge.errors import DeadlineExceeded, ProtocolError, TransportError

Devtools = Callable[[Callable[[ServerConnection], Any]], AbstractAsyncContextManager[CdpConnection]]


async def test_a_call_returns_the_result_of_its_command(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        assert await connection.call("A.b", {"x": 1}, timeout_s=5) == {"method": "A.b", "params": {"x": 1}}


async def test_replies_out_of_order_reach_their_callers(devtools: Devtools) -> None:
    async def backwards(websocket: ServerConnection) -> None:
        commands = [await read_command(websocket) for _ in range(3)]
        for command in reversed(commands):
            await websocket.send(reply(command, method=command["method"]))

    async with devtools(backwards) as connection:
        calls = [connection.send(name) for name in ("A.a", "B.b", "C.c")]
        assert [(await call.result(timeout_s=5))["method"] for call in calls] == ["A.a", "B.b", "C.c"]


async def test_commands_go_out_in_the_order_of_sending_without_waiting(devtools: Devtools) -> None:
    arrived: list[int] = []

    async def note(websocket: ServerConnection) -> None:
        commands = [await read_command(websocket) for _ in range(200)]
        arrived.extend(command["params"]["n"] for command in commands)
        for command in commands:
            await websocket.send(reply(command))

    async with devtools(note) as connection:
        calls = [connection.send("A.b", {"n": n}) for n in range(200)]
        for call in calls:
            await call.result(timeout_s=5)
    assert arrived == list(range(200))


async def test_a_refused_command_is_an_error_with_the_browsers_words(devtools: Devtools) -> None:
    async def refuse(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(json.dumps({"id": command["id"], "error": {"code": -32601, "message": "wasn't found"}}))

    async with devtools(refuse) as connection:
        with pytest.raises(ProtocolError, match=r"No\.such failed: wasn't found \(-32601\)"):
            await connection.call("No.such", timeout_s=5)


async def test_a_call_that_times_out_leaves_nothing_and_its_late_reply_disturbs_nobody(devtools: Devtools) -> None:
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
        assert (await connection.call("Next.one", timeout_s=5))["method"] == "Next.one"


async def test_a_cancelled_call_leaves_nothing(devtools: Devtools) -> None:
    heard = asyncio.Event()

    async def silent(websocket: ServerConnection) -> None:
        await read_command(websocket)
        heard.set()
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = asyncio.create_task(connection.call("A.b", timeout_s=60))
        await asyncio.wait_for(heard.wait(), 5)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert connection.in_flight == 0


async def test_an_abandoned_call_leaves_nothing_and_says_so_when_asked(devtools: Devtools) -> None:
    async def silent(websocket: ServerConnection) -> None:
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = connection.send("A.b")
        call.abandon()
        assert connection.in_flight == 0
        with pytest.raises(TransportError, match="abandoned"):
            await call.result(timeout_s=5)


async def test_a_refusal_that_nobody_asks_for_is_not_reported_by_asyncio(
    devtools: Devtools, caplog: pytest.LogCaptureFixture
) -> None:
    async def refuse_first(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(json.dumps({"id": command["id"], "error": {"code": 1, "message": "no"}}))
        await answer_all(websocket)

    async with devtools(refuse_first) as connection:
        connection.send("A.b")
        await connection.call("C.d", timeout_s=5)
        assert connection.in_flight == 0
        gc.collect()
    assert "never retrieved" not in caplog.text


async def test_when_the_peer_closes_callers_get_its_reason_and_not_their_own_cancellation(devtools: Devtools) -> None:
    async def leave(websocket: ServerConnection) -> None:
        await read_command(websocket)
        await websocket.close(1001, "WebView is going")

    async with devtools(leave) as connection:
        with pytest.raises(TransportError, match=r"A\.b got no reply: .*code 1001 \(WebView is going\)"):
            await connection.call("A.b", timeout_s=5)
        assert connection.closed.is_set()
        with pytest.raises(TransportError, match="WebView is going"):
            connection.send("A.b")


async def test_when_the_socket_breaks_callers_are_told_at_once(devtools: Devtools) -> None:
    async def break_off(websocket: ServerConnection) -> None:
        await read_command(websocket)
        sock: socket.socket = websocket.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        websocket.transport.abort()

    async with devtools(break_off) as connection:
        with pytest.raises(TransportError, match=r"A\.b got no reply"):
            await connection.call("A.b", timeout_s=5)


async def test_a_half_closed_socket_ends_the_connection(devtools: Devtools) -> None:
    async def stop_writing(websocket: ServerConnection) -> None:
        await read_command(websocket)
        websocket.transport.write_eof()
        await websocket.wait_closed()

    async with devtools(stop_writing) as connection:
        with pytest.raises(TransportError, match="without a goodbye"):
            await connection.call("A.b", timeout_s=5)


async def test_a_message_that_is_not_cdp_ends_the_connection_with_its_text(devtools: Devtools) -> None:
    async def rant(websocket: ServerConnection) -> None:
        await websocket.send("what?")
        await websocket.wait_closed()

    async with devtools(rant) as connection:
        await asyncio.wait_for(connection.closed.wait(), 5)
        with pytest.raises(TransportError, match="what"):
            await connection.call("A.b", timeout_s=5)


async def test_leaving_settles_the_calls_of_other_tasks(devtools: Devtools) -> None:
    heard = asyncio.Event()

    async def silent(websocket: ServerConnection) -> None:
        await read_command(websocket)
        heard.set()
        await websocket.wait_closed()

    async with devtools(silent) as connection:
        call = asyncio.create_task(connection.call("A.b", timeout_s=60))
        await asyncio.wait_for(heard.wait(), 5)
    with pytest.raises(TransportError, match="closed on this side"):
        await call


async def test_closing_with_a_reason_gives_callers_that_reason(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        connection.close("the device went away")
        with pytest.raises(TransportError, match="the device went away"):
            await connection.call("A.b", timeout_s=5)


async def test_what_was_sent_just_before_the_end_is_not_written_after_it(devtools: Devtools) -> None:
    came: list[str | bytes] = []

    async def note(websocket: ServerConnection) -> None:
        came.extend([message async for message in websocket])

    async with devtools(note) as connection:
        connection.send("Page.navigate", {"url": "https://example.com/"})
        connection.close("the tab was closed")
    assert came == []


async def test_leaving_takes_no_longer_than_its_bound_when_the_peer_does_not_take_part() -> None:
    async def only_shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from websockets.server import ServerProtocol

        protocol = ServerProtocol()
        protocol.receive_data(await reader.readuntil(b"\r\n\r\n"))
        (request,) = protocol.events_received()
        assert isinstance(request, Request)
        protocol.send_response(protocol.accept(request))
        writer.writelines(protocol.data_to_send())
        await reader.read()
        writer.close()

    async with await asyncio.start_server(only_shake_hands, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/x", timeout_s=5):
            started = time.monotonic()
        assert time.monotonic() - started < 3
    assert sock.fileno() == -1


async def test_the_users_own_exception_comes_out_as_it_is(devtools: Devtools) -> None:
    async def use() -> None:
        async with devtools(answer_all) as connection:
            await connection.call("A.b", timeout_s=5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await use()


async def test_leaving_leaves_neither_task_nor_socket(devtools: Devtools) -> None:
    async with serve(answer_all, "127.0.0.1", 0) as server:
        before = asyncio.all_tasks()
        sock = await dial(server.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/x", timeout_s=5) as connection:
            await connection.call("A.b", timeout_s=5)
        ours = [task for task in asyncio.all_tasks() - before if task.get_name().startswith(("cdp", "finish"))]
    assert ours == []
    assert sock.fileno() == -1


async def test_a_refused_handshake_tells_the_status_and_closes_the_socket() -> None:
    def refuse(websocket: ServerConnection, request: Request) -> Response:
        return websocket.respond(404, "No such target id: X")

    async with serve(answer_all, "127.0.0.1", 0, process_request=refuse) as server:
        sock = await dial(server.sockets[0].getsockname()[1])
        with pytest.raises(TransportError, match="404 No such target id: X"):
            async with open_cdp(sock, "/devtools/page/X", timeout_s=5):
                pass
    assert sock.fileno() == -1


async def test_the_handshake_is_what_a_webview_accepts() -> None:
    seen: list[Request] = []

    def note(websocket: ServerConnection, request: Request) -> None:
        seen.append(request)

    async with serve(answer_all, "127.0.0.1", 0, process_request=note) as server:
        sock = await dial(server.sockets[0].getsockname()[1])
        async with open_cdp(sock, "/devtools/page/X", timeout_s=5):
            pass
    (request,) = seen
    assert request.path == "/devtools/page/X"
    assert request.headers["Host"] == "localhost"
    assert "Origin" not in request.headers
    assert "Sec-WebSocket-Extensions" not in request.headers


async def test_a_frozen_peer_costs_the_handshake_no_more_than_its_deadline() -> None:
    ended = asyncio.Event()

    async def freeze(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        ended.set()

    async with await asyncio.start_server(freeze, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        with pytest.raises(DeadlineExceeded, match="handshake with /x timed out"):
            async with open_cdp(sock, "/x", timeout_s=0.2):
                pass
        await asyncio.wait_for(ended.wait(), 5)
    assert sock.fileno() == -1


async def test_a_socket_that_closes_during_the_handshake_is_a_transport_error() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listener:
        sock = await dial(listener.sockets[0].getsockname()[1])
        with pytest.raises(TransportError, match="handshake with /x failed"):
            async with open_cdp(sock, "/x", timeout_s=5):
                pass


async def test_a_listener_may_send_commands_for_each_event(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        for n in range(3):
            await websocket.send(event("Fetch.requestPaused", n=n))
        await answer_all(websocket)

    async with devtools(announce) as connection:
        with connection.events("Fetch.requestPaused") as paused:
            for n in range(3):
                request = await paused.next(timeout_s=5)
                result = await connection.call("Fetch.continueRequest", {"n": request.params["n"]}, timeout_s=5)
                assert result["params"] == {"n": n}


async def test_a_reducer_may_send_and_sees_the_event_before_any_listener(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        await websocket.send(event("Page.javascriptDialogOpening", message="hi"))
        await answer_all(websocket)

    answers = []
    async with devtools(announce) as connection:
        with connection.events() as events:

            def accept(method: str, params: dict[str, Any], session_id: str | None) -> None:
                answers.append(connection.send("Page.handleJavaScriptDialog", {"accept": True}))

            remove = connection.on_event(accept)
            await events.next(timeout_s=5)
            assert (await answers[0].result(timeout_s=5))["params"] == {"accept": True}
            remove()


async def test_a_removed_reducer_is_not_called(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(event("A.happened"))
        await websocket.send(reply(command))

    seen: list[str] = []
    async with devtools(announce) as connection:
        remove = connection.on_event(lambda method, params, session_id: seen.append(method))
        remove()
        remove()
        await connection.call("A.b", timeout_s=5)
    assert seen == []


async def test_a_reducer_that_fails_is_logged_and_holds_nobody_up(
    devtools: Devtools, caplog: pytest.LogCaptureFixture
) -> None:
    async def announce(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(event("A.happened"))
        await websocket.send(reply(command))

    def fail(method: str, params: dict[str, Any], session_id: str | None) -> None:
        raise ZeroDivisionError

    async with devtools(announce) as connection:
        connection.on_event(fail)
        with connection.events("A.happened") as events:
            await connection.call("A.b", timeout_s=5)
            assert (await events.next(timeout_s=5)).method == "A.happened"
    assert "a reducer failed on A.happened" in caplog.text


async def test_a_slow_listener_loses_the_oldest_events_with_one_line_and_replies_go_on(
    devtools: Devtools, caplog: pytest.LogCaptureFixture
) -> None:
    async def flood(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        for n in range(50):
            await websocket.send(event("Network.dataReceived", n=n))
        await websocket.send(reply(command))

    with caplog.at_level(logging.WARNING, "bridge.cdp"):
        async with devtools(flood) as connection:
            with connection.events("Network.dataReceived", maxlen=10) as events:
                await connection.call("A.b", timeout_s=5)
                kept = [(await events.next(timeout_s=5)).params["n"] for _ in range(10)]
    assert kept == list(range(40, 50))
    assert events.dropped == 40
    assert caplog.text.count("too slow") == 1


async def test_a_listener_hears_only_the_methods_and_the_session_it_asked_for(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(event("A.x", session_id="S", n=1))
        await websocket.send(event("A.x", n=2))
        await websocket.send(event("B.y", session_id="S", n=3))
        await websocket.send(reply(command))

    async with devtools(announce) as connection:
        with connection.events("A.x") as both, connection.events(session_id="S") as of_session:
            await connection.call("A.b", timeout_s=5)
            assert [(await both.next(timeout_s=5)).params["n"] for _ in range(2)] == [1, 2]
            assert [(await of_session.next(timeout_s=5)).params["n"] for _ in range(2)] == [1, 3]


async def test_listeners_get_what_came_before_the_end_and_then_the_reason(devtools: Devtools) -> None:
    async def leave(websocket: ServerConnection) -> None:
        await read_command(websocket)
        await websocket.send(event("A.last"))
        await websocket.close(1000, "bye")

    async with devtools(leave) as connection:
        with connection.events() as events:
            connection.send("A.b")
            assert (await anext(events)).method == "A.last"
            with pytest.raises(TransportError, match="bye"):
                await anext(events)
        with connection.events() as too_late, pytest.raises(TransportError, match="bye"):
            await anext(too_late)


async def test_waiting_for_an_event_that_does_not_come_names_it(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with (
            connection.events("Page.loadEventFired") as events,
            pytest.raises(DeadlineExceeded, match="loadEvent"),
        ):
            await events.next(timeout_s=0.1)


async def test_a_call_whose_session_detaches_fails_at_once(devtools: Devtools) -> None:
    async def detach(websocket: ServerConnection) -> None:
        await read_command(websocket)
        await websocket.send(event("Target.detachedFromTarget", sessionId="S"))
        await websocket.wait_closed()

    async with devtools(detach) as connection:
        with pytest.raises(TransportError, match="session S was detached"):
            await connection.call("A.b", session_id="S", timeout_s=5)


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


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, 60), min_size=1, max_size=20), fragments=st.integers(1, 5))
def test_messages_do_not_depend_on_how_the_bytes_are_cut(cuts: list[int], fragments: int) -> None:
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
