"""Round trips are waits: commands sent without waiting for each other count once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from devtools_peer import answer_all
from websockets.asyncio.server import ServerConnection

from bridge.cdp import CdpConnection
from bridge.cost import Cost

Devtools = Callable[[Callable[[ServerConnection], Any]], AbstractAsyncContextManager[CdpConnection]]


async def test_commands_that_wait_for_each_other_are_one_round_trip_each(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with connection.measure() as meter:
            for _ in range(3):
                await connection.call("A.b", timeout_s=20)
        assert meter.cost().round_trips == 3


async def test_pipelined_commands_are_one_round_trip(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with connection.measure() as meter:
            calls = [connection.send("A.b") for _ in range(5)]
            for call in calls:
                await call.result(timeout_s=20)
        assert meter.cost().round_trips == 1


async def test_concurrent_tasks_cost_as_much_as_the_longest_of_them(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with connection.measure() as meter:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(4):
                    tasks.create_task(connection.call("A.b", timeout_s=20))
        assert meter.cost().round_trips == 1


async def test_bytes_are_those_of_the_messages(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with connection.measure() as meter:
            await connection.call("A.b", {"x": "y"}, timeout_s=20)
        cost = meter.cost()
    assert cost.bytes_sent == len('{"id":1,"method":"A.b","params":{"x":"y"}}')
    assert cost.bytes_received == len('{"id": 1, "result": {"method": "A.b", "params": {"x": "y"}}}')


async def test_nested_meters_both_count_and_stop_at_their_own_ends(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        with connection.measure() as outer:
            with connection.measure() as inner:
                await connection.call("A.b", timeout_s=20)
            cost_then = inner.cost()
            await connection.call("A.b", timeout_s=20)
    assert (inner.cost(), inner.round_trips, outer.round_trips) == (cost_then, 1, 2)


async def test_commands_of_other_tasks_are_not_counted(devtools: Devtools) -> None:
    async with devtools(answer_all) as connection:
        background = asyncio.create_task(connection.call("A.b", timeout_s=20))
        with connection.measure() as meter:
            await background
        assert meter.cost().round_trips == 0


def test_costs_add_up() -> None:
    assert Cost(1.0, 1, 10, 100, 5) + Cost(2.0, 2, 20, 200) == Cost(3.0, 3, 30, 300, 5)


def test_a_cost_has_stable_keys() -> None:
    assert Cost(1.23456, 1, 2, 3, 4).to_json() == {
        "ms": 1.23,
        "round_trips": 1,
        "bytes_sent": 2,
        "bytes_received": 3,
        "est_tokens": 4,
    }


def test_a_cost_prints_as_text() -> None:
    assert str(Cost(12.34567, 1, 321, 4_123)) == "12 ms · 1 round trip · 0.3 kB sent, 4.1 kB received"
    assert f"{Cost(0.4, 2, 0, 0)}" == "0 ms · 2 round trips · 0.0 kB sent, 0.0 kB received"
