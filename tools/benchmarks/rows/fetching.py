"""What webfetch costs beyond bare httpx and the same conversion, and what a snapshot of plain HTML takes.

Both fetch the same page from the same server on loopback, gzipped, in turns; the bare one with a new
`httpx.AsyncClient` per page, as webfetch keeps no connection either, and the same calls of the converter behind it.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Sequence

import httpx

from bridge.policy import policy_for
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch import webfetch
from bridge.reading.fetch.unseen import remove_unseen
from bridge.reading.main_content import main_content
from bridge.reading.markdown import to_blocks
from bridge.reading.markdown.document import truncated
from bridge.snapshot.plain_html.parse import parse_html
from bridge.snapshot.plain_html.snapshot import build_document, snapshot_html
from tools.benchmarks.bench import Bench
from tools.benchmarks.measuring import (
    Finding,
    Ratio,
    Samples,
    at_most,
    below,
    geometric_mean,
    interleave,
    median_finding,
)
from tools.benchmarks.pages import large_pages, served

#: Made once for the bare client too: loading the authorities takes it longer than many a page.
_TLS = httpx.create_ssl_context(trust_env=False)
_SMALL = (
    "<!doctype html><title>Small</title><h1>Small</h1>" + "<p>One of twenty short paragraphs, with a comma.</p>" * 20
)


async def _bare(url: str) -> str:
    async with httpx.AsyncClient(verify=_TLS, trust_env=False, timeout=30) as client:
        response = await client.get(url)
        response.raise_for_status()
    root = parse_html(response.text)
    remove_unseen(root)
    content = main_content(root)
    blocks = to_blocks(content.tree, base_url=url, title=content.title)
    return truncated(blocks, 50_000)[0]


async def fetching(bench: Bench) -> Sequence[Finding]:
    pages = {"small": _SMALL.encode(), **large_pages()}
    if bench.quick:
        pages = dict(list(pages.items())[:4])
    per_page: dict[str, Ratio] = {}
    with served({name: gzip.compress(html) for name, html in pages.items()}, is_gzip=True) as site:
        egress = PinnedEgress(policy_for("operator"), [site.grant])
        for name in pages:

            async def ours(url: str = site.url(name)) -> None:
                await webfetch(url, egress=egress)

            async def bare(url: str = site.url(name)) -> None:
                await _bare(url)

            samples = await interleave({"ours": ours, "bare": bare}, rounds=bench.choose(9, 2))
            per_page[name] = Ratio.of(samples, "ours", "bare")
    mean = geometric_mean(list(per_page.values()))
    worst = max(per_page, key=lambda name: per_page[name].value)
    return [
        Finding(
            "webfetch beside bare httpx and the same conversion", mean.value, "×", at_most(1.2), mean.spread,
            f"geometric mean of {len(per_page)} pages; worst {per_page[worst].value:.2f} × ({worst})",
            {name: ratio.value for name, ratio in per_page.items()},
        ),
        _snapshot_of_html(pages, bench.choose(5, 2)),
    ]  # fmt: skip


def _snapshot_of_html(pages: dict[str, bytes], rounds: int) -> Finding:
    """The slowest page's time for 600 kB of its HTML."""
    slowest, name_of_it = Samples([0.0]), ""
    for name, html in pages.items():
        if len(html) < 100_000:
            continue
        text, samples = html.decode("utf-8", "replace"), Samples()
        for _ in range(rounds):
            began = time.perf_counter()
            snapshot_html(build_document(text))
            samples.values.append((time.perf_counter() - began) * 1000 * 600_000 / len(html))
        if samples.median > slowest.median:
            slowest, name_of_it = samples, name
    what = "snapshot of plain HTML, without a device, per 600 kB"
    return median_finding(what, slowest, "ms", bar=below(300), note=f"slowest page: {name_of_it}")
