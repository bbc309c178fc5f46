"""A slow cable or Wi-Fi: how many of its round trips an operation takes, and the same beside Playwright."""

from __future__ import annotations

from collections.abc import Sequence

from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Contender, Finding, Samples, interleave, ratio_finding
from tools.benchmarks.pages import generated, served
from tools.benchmarks.peers import playwright

_ROUND_TRIP_MS = (20, 100)
#: What a Wi-Fi link gives adb.
_BYTES_PER_S = 5_000_000


async def slow_links(bench: Bench) -> Sequence[Finding]:
    found: list[Finding] = []
    with served({"": generated(500)}) as site:
        async with opened([site.grant]) as (handle, session, page):
            await page.goto(site.url(""))
            button = (await page.snapshot()).find(role="button", nth=0)

            async def snapshot() -> None:
                await page.snapshot()

            async def click() -> None:
                await page.click(button.ref)

            async with session.forward() as port, playwright(port) as talk:
                ours: dict[str, Contender] = {"snapshot": snapshot, "click": click}
                theirs: dict[str, Contender] = {
                    "playwright snapshot": lambda: talk.timed({"do": "snapshot"}),
                    "playwright click": lambda: talk.timed({"do": "click", "selector": "button >> nth=0"}),
                }
                fast = await interleave({**ours, **theirs}, rounds=bench.choose(9, 5))
                for round_trip_ms in _ROUND_TRIP_MS:
                    await handle.fault("slow_link", latency_ms=round_trip_ms / 2, bytes_per_s=_BYTES_PER_S)
                    slow = await interleave({**ours, **theirs}, rounds=bench.choose(9, 5))
                    await handle.fault("straight_link")
                    found += _beside_a_straight_link(round_trip_ms, slow, fast)
    return found


def _beside_a_straight_link(round_trip_ms: int, slow: dict[str, Samples], fast: dict[str, Samples]) -> list[Finding]:
    found = []
    for deed in ("snapshot", "click"):
        trips = {who: (slow[who].median - fast[who].median) / round_trip_ms for who in (deed, f"playwright {deed}")}
        note = ", ".join(
            f"{who} {fast[who].median:.0f} → {slow[who].median:.0f} ms: {trips[who]:.1f} round trips" for who in trips
        )
        one = ratio_finding(
            f"{deed} over a link of {round_trip_ms} ms: playwright / ours", slow, f"playwright {deed}", deed
        )
        found.append(Finding(one.what, one.value, one.unit, one.bar, one.spread, note, one.facts))
    return found
