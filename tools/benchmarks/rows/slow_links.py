"""A slow cable or Wi-Fi: how many of its round trips an operation takes, and the same beside Playwright.

These are round trips on the wall, which are more than an operation waits for: an adb stream sends its next packet when
the one before has been taken, so other messages of the page (acknowledged input, events) add to the wait.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from bridge.page.page import Page
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Contender, Finding, NotMeasured, Samples, interleave, ratio_finding
from tools.benchmarks.pages import generated, served
from tools.benchmarks.peers import Conversation, playwright

_ROUND_TRIP_MS = (20, 100)
#: What a Wi-Fi link gives adb.
_BYTES_PER_S = 5_000_000


async def slow_links(bench: Bench) -> Sequence[Finding]:
    found: list[Finding] = []
    with served({"": generated(500)}) as site:
        async with opened([site.grant]) as (handle, session, page):
            await page.goto(site.url(""))
            async with session.forward() as port, playwright(port) as talk:

                async def measured() -> dict[str, Samples]:
                    rounds = bench.choose(7, 2)
                    loads = await interleave(_loads(page, talk, site.url("")), rounds=rounds)
                    return loads | await interleave(await _deeds(page, talk), rounds=rounds)

                fast = await measured()
                for round_trip_ms in _ROUND_TRIP_MS:
                    await handle.fault("slow_link", latency_ms=round_trip_ms / 2, bytes_per_s=_BYTES_PER_S)
                    slow = await measured()
                    await handle.fault("straight_link")
                    found += _beside_a_straight_link(round_trip_ms, slow, fast)
    return found


def _loads(page: Page, talk: Conversation, url: str) -> dict[str, Contender]:
    """What a page loads comes over the link too: the device reaches the server by `adb reverse`. Both wait for the same
    decision about the document's request: the policy belongs to the session and applies to every client of its tab.

    Each begins when it has heard all of the other's load, which Playwright gives up on where it hears of it late."""

    async def load() -> float:
        await page.snapshot()
        began = time.perf_counter()
        await page.goto(url)
        return (time.perf_counter() - began) * 1000

    async def playwright_load() -> float:
        await talk.ask({"do": "snapshot"})
        return await talk.timed({"do": "goto", "url": url})

    return {"page load": load, "playwright page load": playwright_load}


async def _deeds(page: Page, talk: Conversation) -> dict[str, Contender]:
    shot = await page.snapshot()
    button, field = shot.find(role="button", nth=0).ref, shot.find(role="textbox", nth=0).ref

    async def snapshot() -> None:
        await page.snapshot()

    async def click() -> None:
        await page.click(button)

    async def fill() -> None:
        await page.fill(field, "2")

    return {
        "snapshot": snapshot,
        "click": click,
        "fill": fill,
        "playwright snapshot": lambda: talk.timed({"do": "snapshot"}),
        "playwright click": lambda: talk.timed({"do": "click", "selector": "button >> nth=0"}),
        "playwright fill": lambda: talk.timed({"do": "fill", "selector": "input >> nth=0", "value": "3"}),
    }


def _beside_a_straight_link(round_trip_ms: int, slow: dict[str, Samples], fast: dict[str, Samples]) -> list[Finding]:
    found = []
    for deed in (deed for deed in slow if not deed.startswith("playwright")):
        peer = f"playwright {deed}"
        what = f"{deed} over a link of {round_trip_ms} ms: playwright / ours"
        try:
            trips = {who: (slow[who].median - fast[who].median) / round_trip_ms for who in (deed, peer)}
        except NotMeasured as error:
            found.append(Finding(what, None, "×", note=str(error)))
            continue
        note = ", ".join(
            f"{who} {fast[who].median:.0f} → {slow[who].median:.0f} ms: {trips[who]:.1f} round trips" for who in trips
        )
        found.append(replace(ratio_finding(what, slow, peer, deed), note=note))
    return found
