"""Devices and tabs at work at once: CPU time per unit of work stays flat, and no tab gets the results of another."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer
from tools.benchmarks.bench import Bench, device
from tools.benchmarks.measuring import Finding, at_most
from tools.benchmarks.pages import served
from tools.benchmarks.processes import cpu_s, memory_mb, tree

_PAGE = (
    "<!doctype html><title>Tab {n}</title><h1>Tab {n}</h1><button onclick='out.textContent=++count'>Count {n}</button>"
    "<output id=out>0</output><script>let count=0</script>" + "<p>Some <a href='/x'>words</a> around it.</p>" * 40
)
_IDLE_S = 3.0


@dataclass(frozen=True)
class _Measured:
    devices: int
    tabs: int
    rounds: int
    wall_s: float
    cpu_s: float
    strangers: int

    @property
    def cpu_ms_per_round(self) -> float:
        return self.cpu_s * 1000 / self.rounds


async def scale(bench: Bench) -> Sequence[Finding]:
    steps = bench.choose([(1, 1), (1, 4), (2, 4), (4, 4), (8, 4)], [(1, 1), (1, 2), (2, 2)])
    devices, tabs = steps[-1]
    pages = {f"{n}": _PAGE.format(n=n).encode() for n in range(devices * tabs)}
    with served(pages, scripts=True) as site:
        async with _sessions(devices, site) as sessions:
            idle = await _idle(sessions[0], site, bench.choose(7, 4))
            opened: dict[tuple[int, int], Page] = {}
            measured = []
            for many, wide in steps:
                for index in range(many):
                    for tab in range(wide):
                        if (index, tab) not in opened:
                            page = await sessions[index].new_page(site.url(str(index * tabs + tab)))
                            opened[index, tab] = page
                at_work = {(i, t): page for (i, t), page in opened.items() if i < many and t < wide}
                measured.append(await _work(many, wide, at_work, tabs, bench.choose(40, 15)))
    first, last = measured[0], measured[-1]
    strangers = sum(one.strangers for one in measured)
    facts = {f"{one.devices}x{one.tabs}": one.cpu_ms_per_round for one in measured}
    note = ", ".join(f"{name} {ms:.0f} ms" for name, ms in facts.items())
    return [
        Finding(
            f"CPU time of a snapshot and a click, {last.devices} devices × {last.tabs} tabs / 1 × 1",
            last.cpu_ms_per_round / first.cpu_ms_per_round, "×", at_most(1.25), note=note, facts=facts,
        ),
        Finding(
            f"answers about another tab's page, of {sum(one.rounds for one in measured) * 2}", strangers, "", at_most(0)
        ),
        *idle,
    ]  # fmt: skip


@asynccontextmanager
async def _sessions(devices: int, site: LocalServer) -> AsyncIterator[list[Session]]:
    async with AsyncExitStack() as stack:
        sessions = []
        for _ in range(devices):
            handle = await stack.enter_async_context(device())
            sessions.append(await stack.enter_async_context(Session.open(handle.serial, grants=[site.grant])))
        yield sessions


async def _work(devices: int, tabs: int, pages: dict[tuple[int, int], Page], width: int, rounds: int) -> _Measured:
    """Every tab counts, all at once."""

    async def one(index: int, tab: int, page: Page) -> int:
        number, strangers = index * width + tab, 0
        for _ in range(rounds):
            shot = await page.snapshot(timeout_s=60)
            strangers += f"Tab {number}" != shot.title
            button = shot.find(role="button")
            done = await page.click(button.ref, timeout_s=60)
            strangers += button.name != f"Count {number}" or done.changes is None
        return strangers

    everybody = tree(os.getpid())
    began, before = time.perf_counter(), cpu_s(everybody)
    strangers = await asyncio.gather(*(one(index, tab, page) for (index, tab), page in pages.items()))
    return _Measured(
        devices, tabs, rounds * len(pages), time.perf_counter() - began, cpu_s(everybody) - before, sum(strangers)
    )


async def _idle(session: Session, site: LocalServer, tabs: int) -> list[Finding]:
    """The cost of one more idle tab."""
    first = await session.new_page(site.url("0"))
    before_mb = memory_mb(tree(os.getpid()))
    more = [await session.new_page(site.url("0")) for _ in range(tabs)]
    after_mb = memory_mb(tree(os.getpid()))
    everybody = tree(os.getpid())
    before = cpu_s(everybody)
    await asyncio.sleep(_IDLE_S)
    with_all = cpu_s(everybody) - before
    for page in more:
        await page.close()
    before = cpu_s(everybody)
    await asyncio.sleep(_IDLE_S)
    with_one = cpu_s(everybody) - before
    await first.close()
    each = (with_all - with_one) / _IDLE_S / tabs * 100
    return [
        Finding("an idle tab more: memory", (after_mb - before_mb) / tabs, "MB", note=f"{tabs} tabs; all processes"),
        Finding("an idle tab more: CPU", max(0.0, each), "% of a core", note=f"{tabs} tabs; all processes"),
    ]
