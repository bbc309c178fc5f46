"""What the policy costs: CPU time per decision, and a page of 100 requests with gate and interception and without.

Both loads go to the same server through a virtual device each, in turns; one session has gate and interception, the
other has neither: its host app uses no proxy.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from unittest.mock import patch

from bridge import Session
from bridge.page.interception.url_policy import UrlPolicy
from bridge.page.page import Page
from bridge.policy import BrowserPolicy, decide
from bridge.policy.pinning import PinnedEgress
from bridge.session import egress as session_egress
from bridge.session import session as session_module
from bridge.surfaces.local_server import LocalServer
from tools.benchmarks.bench import Bench, device
from tools.benchmarks.measuring import Finding, at_most, below, interleave, ratio_finding
from tools.benchmarks.pages import ROOT, served

REQUESTS = 100
_CORPUS = ROOT / "tests" / "policy" / "corpus"
_SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>" + b" " * 8000


def _decisions() -> Finding:
    entries = [entry for name in ("refused", "allowed") for entry in json.loads((_CORPUS / f"{name}.json").read_text())]
    lists = [f"*.site{number}.example" for number in range(50)]
    policy = BrowserPolicy(default_action="allow", allowed_origins=lists, denied_origins=lists)
    spent_us = []
    for _ in range(20):
        for entry in entries:
            began = time.thread_time_ns()  # CPU time: other work on the machine does not count
            decide(policy, entry["url"])
            spent_us.append((time.thread_time_ns() - began) / 1000)
    p99 = statistics.quantiles(spent_us, n=100)[98]
    note = f"median {statistics.median(spent_us):.0f} µs, {len(entries)} addresses, lists of 100 rules"
    return Finding("a policy decision, CPU time, p99", p99, "µs", below(200), note=note)


class _Without(session_egress.Containment):
    """A session whose traffic is left alone: what is compared with."""

    async def route(self, host) -> None:  # type: ignore[no-untyped-def]
        await host.set_proxy(None, timeout_s=10)

    async def install(self, attachment) -> None:  # type: ignore[no-untyped-def]
        self._interception = UrlPolicy(self.egress, blocks_proxy_bypass=False)


@asynccontextmanager
async def _page(site: LocalServer, *, held: bool) -> AsyncIterator[Page]:
    containment = session_module.Containment if held else _Without
    egress = PinnedEgress(BrowserPolicy(default_action="allow"), [site.grant])
    with patch.object(session_module, "Containment", containment):
        async with device(quirks=True) as handle, Session.open(handle.serial, egress=egress) as session:
            yield await session.new_page()


async def policies(bench: Bench) -> Sequence[Finding]:
    images = "".join(f"<img src='/{number}.svg'>" for number in range(REQUESTS - 1))
    pages = {"page": images.encode(), **{f"{number}.svg": _SVG for number in range(REQUESTS - 1)}}
    with served(pages, scripts=True) as site:
        async with _page(site, held=True) as held, _page(site, held=False) as free:

            async def with_policy() -> None:
                await held.goto(site.url("page"), timeout_s=60)

            async def without() -> None:
                await free.goto(site.url("page"), timeout_s=60)

            samples = await interleave({"with policy": with_policy, "without": without}, rounds=bench.choose(9, 5))
    return [
        _decisions(),
        ratio_finding(
            f"a page of {REQUESTS} requests, with gate and interception",
            samples,
            "with policy",
            "without",
            bar=at_most(1.3),
        ),
    ]
