"""What adb costs a CDP call: the same call to the same tab, through the device's adbd and straight to Chromium."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from bridge import Session
from bridge.cdp import CdpConnection
from tools.benchmarks.bench import Bench, opened, straight
from tools.benchmarks.measuring import Contender, Finding, at_least, at_most, interleave, ratio_finding
from tools.benchmarks.pages import generated, served
from tools.benchmarks.peers import Conversation, PeerMissing, pychrome

_SMALL: dict[str, Any] = {"expression": "1", "returnByValue": True}
_LARGE: dict[str, Any] = {"expression": "'x'.repeat(5e6)", "returnByValue": True}
_CALLS = 50


def _p50_of_calls(connection: CdpConnection) -> Contender:
    async def contender() -> float:
        spent_ms = []
        for _ in range(_CALLS):
            began = time.perf_counter()
            await connection.call("Runtime.evaluate", _SMALL, timeout_s=10)
            spent_ms.append((time.perf_counter() - began) * 1000)
        return statistics.median(spent_ms)

    return contender


def _large_reply(connection: CdpConnection) -> Contender:
    async def contender() -> None:
        reply = await connection.call("Runtime.evaluate", _LARGE, timeout_s=60)
        assert len(reply["result"]["value"]) == 5_000_000

    return contender


def _large_by_pychrome(talk: Conversation) -> Contender:
    return lambda: talk.timed({"do": "call", "expression": _LARGE["expression"]})


async def calls(bench: Bench) -> Sequence[Finding]:
    found: list[Finding] = []
    with served({"": generated(500)}) as site:
        for quirks in (False, True):
            async with AsyncExitStack() as stack:
                _, session, page = await stack.enter_async_context(opened([site.grant], quirks=quirks))
                await page.goto(site.url(""))
                over_adb = (await page.attached()).connection
                direct = await stack.enter_async_context(straight(site.url("")))
                small = {"over adb": _p50_of_calls(over_adb), "straight": _p50_of_calls(direct)}
                large = {"over adb": _large_reply(over_adb), "straight": _large_reply(direct)}
                times = await interleave(small, rounds=bench.choose(21, 9))
                replies = await interleave(large, rounds=bench.choose(11, 3))
                how = ", with WebView's quirks imitated" if quirks else ""
                found += [
                    ratio_finding(
                        f"a CDP call, p50, beside the same call without adb{how}",
                        times, "over adb", "straight", bar=None if quirks else at_most(2.2),
                    ),
                    ratio_finding(
                        f"throughput of a 5 MB reply, beside the same reply without adb{how}",
                        replies, "straight", "over adb", bar=None if quirks else at_least(0.9),
                    ),
                ]  # fmt: skip
                if not quirks:
                    found.append(await _beside_pychrome(session, large["over adb"], bench.choose(5, 2)))
    return found


async def _beside_pychrome(session: Session, ours: Contender, rounds: int) -> Finding:
    """In turns of its own: it takes ten times as long."""
    what = "a 5 MB reply, pychrome over a forwarded port"
    try:
        async with session.forward() as port, pychrome(port) as talk:
            samples = await interleave({"over adb": ours, "pychrome": _large_by_pychrome(talk)}, rounds=rounds)
    except PeerMissing as error:
        return Finding(what, None, "×", note=str(error))
    return ratio_finding(what, samples, "pychrome", "over adb")
