"""The one-shot tool: what a call costs beyond the page's own load, on a virtual device with WebView's quirks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

from bridge.surfaces.demo.server import serve_demo_pages
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Finding, Samples, below, median_finding

_BARS = {"new tab": 500, "viewport capture": 100, "extract": 200, "reset": 50}


async def one_shot(bench: Bench) -> Sequence[Finding]:
    samples = {name: Samples() for name in _BARS}
    with serve_demo_pages() as site:
        async with opened([site.grant], quirks=True) as (_, session, first):
            await session.close_tab(first)
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
    return [
        median_finding(f"one-shot tool: {name}", samples[name], "ms", bar=below(limit)) for name, limit in _BARS.items()
    ]
