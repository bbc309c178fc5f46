"""The one-shot tool: what a call costs beyond the page's own load, on a virtual device with WebView's quirks."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from bridge.surfaces.demo.server import serve_demo_pages
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Finding, Samples, below, median_finding
from tools.benchmarks.pages import saved_pages, served

_BARS = {"new tab": 500, "viewport capture": 100, "extract": 200, "reset": 50}


async def one_shot(bench: Bench) -> Sequence[Finding]:
    samples = {name: Samples() for name in _BARS}
    with serve_demo_pages() as site:
        async with opened([site.grant], quirks=True) as (_, session, first):
            await first.close()
            for number in range(bench.choose(21, 7) + 1):
                marks = [time.perf_counter()]
                async with session.isolated() as page:
                    marks.append(time.perf_counter())
                    await page.goto(site.url("shop.html"))
                    marks.append(time.perf_counter())
                    await page.screenshot()
                    marks.append(time.perf_counter())
                    await page.read()
                    marks.append(time.perf_counter())
                marks.append(time.perf_counter())
                new_tab, _, capture, extract, reset = (
                    (after - before) * 1000 for before, after in itertools.pairwise(marks)
                )
                if number:  # the first one warms up
                    for name, ms in zip(_BARS, (new_tab, capture, extract, reset), strict=True):
                        samples[name].values.append(ms)
    findings = [
        median_finding(f"one-shot tool: {name}", samples[name], "ms", bar=below(limit)) for name, limit in _BARS.items()
    ]
    return [*findings, await _extract_from_saved_pages(bench)]


async def _extract_from_saved_pages(bench: Bench) -> Finding:
    """Reading of large saved pages, once they are loaded: the demo's shop is a small one."""
    what = "one-shot tool: extract from large saved pages, median of their medians"
    pages = saved_pages()
    if not pages:
        return Finding(what, None, "ms", note="no pages here: name their folder with BRIDGE_BENCH_PAGES")
    medians: dict[str, float] = {}
    with served(pages) as site:
        async with opened([site.grant], quirks=True) as (_, session, first):
            await first.close()
            for name in pages:
                async with session.isolated() as page:
                    await page.goto(site.url(name))
                    times = []
                    for _ in range(bench.choose(5, 3)):
                        began = time.perf_counter()
                        await page.read()
                        times.append((time.perf_counter() - began) * 1000)
                    medians[name] = statistics.median(times)
    slowest = max(medians, key=medians.__getitem__)
    note = f"{len(medians)} pages; slowest {Path(slowest).name.partition('.html')[0]}: {medians[slowest]:.0f} ms"
    return Finding(what, statistics.median(medians.values()), "ms", below(200), note=note, facts=medians)
