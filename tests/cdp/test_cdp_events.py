"""Events: reducers in the reader task, and listeners at their own pace."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from devtools_peer import Devtools, answer_all, event, read_command, reply
from websockets.asyncio.server import ServerConnection

from bridge.errors import DeadlineExceeded, TransportError


async def test_a_listener_may_send_commands_for_each_event(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        for n in range(3):
            await websocket.send(event("Fetch.requestPaused", n=n))
        await answer_all(websocket)

    async with devtools(announce) as connection:
        with connection.events("Fetch.requestPaused") as paused:
            for n in range(3):
                request = await paused.next(timeout_s=20)
                result = await connection.call("Fetch.continueRequest", {"n": request.params["n"]}, timeout_s=20)
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
            await events.next(timeout_s=20)
            assert (await answers[0].result(timeout_s=20))["params"] == {"accept": True}
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
        await connection.call("A.b", timeout_s=20)
    assert seen == []


async def test_a_failing_reducer_is_logged_and_delays_nothing(
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
            await connection.call("A.b", timeout_s=20)
            assert (await events.next(timeout_s=20)).method == "A.happened"
    assert "a reducer failed on A.happened" in caplog.text


async def test_a_slow_listener_loses_the_oldest_events_and_replies_continue(
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
                await connection.call("A.b", timeout_s=20)
                kept = [(await events.next(timeout_s=20)).params["n"] for _ in range(10)]
    assert kept == list(range(40, 50))
    assert events.dropped == 40
    assert caplog.text.count("too slow") == 1


async def test_a_listener_gets_only_its_methods_and_session(devtools: Devtools) -> None:
    async def announce(websocket: ServerConnection) -> None:
        command = await read_command(websocket)
        await websocket.send(event("A.x", session_id="S", n=1))
        await websocket.send(event("A.x", n=2))
        await websocket.send(event("B.y", session_id="S", n=3))
        await websocket.send(reply(command))

    async with devtools(announce) as connection:
        with connection.events("A.x") as both, connection.events(session_id="S") as of_session:
            await connection.call("A.b", timeout_s=20)
            assert [(await both.next(timeout_s=20)).params["n"] for _ in range(2)] == [1, 2]
            assert [(await of_session.next(timeout_s=20)).params["n"] for _ in range(2)] == [1, 3]


async def test_listeners_get_queued_events_and_then_the_close_reason(devtools: Devtools) -> None:
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


async def test_a_timed_out_wait_names_the_event(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with (
            connection.events("Page.loadEventFired") as events,
            pytest.raises(DeadlineExceeded, match="loadEvent"),
        ):
            await events.next(timeout_s=0.1)
