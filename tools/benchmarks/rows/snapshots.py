"""Snapshots of large pages beside Playwright's `ariaSnapshot` and agent-browser's `snapshot -i`, on the same tab."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from typing import Any

from bridge.page.page import Page
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import (
    Aborted,
    Bar,
    Contender,
    Finding,
    NotMeasured,
    Ratio,
    Samples,
    at_least,
    below,
    geometric_mean,
    interleave,
)
from tools.benchmarks.pages import generated, large_pages, served
from tools.benchmarks.peers import LIMIT_S, AgentBrowser, Conversation, agent_browser, playwright

#: What no page reaches: a snapshot of everything.
UNBOUNDED = 50_000_000
OURS, WHOLE, PLAYWRIGHT, AGENT = "ours", "ours, no budget", "playwright", "agent-browser"
_QUICK = ("floki-medium", "rdb-wikipedia-2", "traf-nymag", "typeobj", "generated-600", "generated-6000")
_SIZES = (500, 1_500, 5_000, 15_000, 50_000)


def _ours(page: Page, chars: dict[str, int], name: str, **bounds: int) -> Contender:
    async def contender() -> None:
        shot = await page.snapshot(timeout_s=LIMIT_S, **bounds)
        if "jsTime" in shot.stats.truncate_reasons:
            raise Aborted("the script's time budget ended the snapshot")
        chars[name] = len(shot.text)

    return contender


def contenders(page: Page, talk: Conversation, agent: AgentBrowser, chars: dict[str, int]) -> dict[str, Contender]:
    """Everybody who takes a snapshot of the page that is shown; sizes of their texts go to `chars`."""

    async def aria_snapshot() -> float:
        said = await talk.ask({"do": "snapshot"})
        chars[PLAYWRIGHT] = said["chars"]
        return float(said["ms"])

    async def snapshot_i() -> float:
        ms, text = await agent.timed("snapshot", "-i")
        chars[AGENT] = len(text)
        return ms

    return {
        OURS: _ours(page, chars, OURS),
        WHOLE: _ours(page, chars, WHOLE, max_chars=UNBOUNDED, max_nodes=1_000_000),
        PLAYWRIGHT: aria_snapshot,
        AGENT: snapshot_i,
    }


async def in_page(page: Page, rounds: int) -> tuple[float, int, int]:
    """The script by itself with its own defaults: milliseconds (median), bytes of its JSON, elements of the page."""
    attachment = await page.attached()
    assert attachment.state.main is not None
    spent_ms, raw = [], {}
    for _ in range(rounds):
        raw = await attachment.evaluate(
            attachment.state.main.frame_id, "__agentBrowser.snapshot({cursorInteractive:true})", timeout_s=LIMIT_S
        )
        if isinstance(raw, str):
            raw = json.loads(raw)
        spent_ms.append(raw["stats"]["jsTimeMs"])
    size = len(json.dumps(raw, ensure_ascii=False, separators=(",", ":")).encode())
    return statistics.median(spent_ms), size, raw["stats"]["domNodes"]


async def measured(
    pages: dict[str, bytes], rounds: int, *, say: bool = True
) -> dict[str, tuple[dict[str, Samples], dict[str, Any]]]:
    """Times of everybody and facts, page by page."""
    table: dict[str, tuple[dict[str, Samples], dict[str, Any]]] = {}
    first = next(iter(pages))
    with served(pages) as site:
        async with opened([site.grant]) as (_, session, page):
            await page.goto(site.url(first), timeout_s=LIMIT_S)
            async with session.forward() as port, playwright(port) as talk, agent_browser(port) as agent:
                for name in pages:
                    await page.goto(site.url(name), timeout_s=LIMIT_S)
                    chars: dict[str, int] = {}
                    samples = await interleave(contenders(page, talk, agent, chars), rounds=rounds)
                    script_ms, json_bytes, nodes = await in_page(page, max(3, rounds))
                    facts = {"nodes": nodes, "script_ms": script_ms, "json_bytes": json_bytes, "chars": dict(chars)}
                    table[name] = samples, facts
                    if say:
                        print(_line(name, samples, facts), flush=True)
    return table


def _line(name: str, samples: dict[str, Samples], facts: dict[str, Any]) -> str:
    cells = "".join(f"{statistics.median(one.values):>16.1f}" for one in samples.values())
    return f"    {name[:28]:29}{facts['nodes']:>7} nodes {facts['script_ms']:>6.1f} ms in the page;{cells}"


def _beside(table: dict[str, tuple[dict[str, Samples], dict[str, Any]]], slower: str, faster: str, bar: Bar) -> Finding:
    what = f"snapshot of large pages{', no budget' if faster == WHOLE else ''}: {slower} / ours"
    ratios, left_out = [], []
    for name, (samples, _) in table.items():
        try:
            ratios.append(Ratio.of(samples, slower, faster))
        except NotMeasured as error:
            left_out.append(f"{name}: {error}")
            if samples[faster].aborted:  # ours hit its time budget, which does not count as fast
                return Finding(what, None, "×", bar, note=left_out[-1])
    try:
        mean = geometric_mean(ratios)
    except NotMeasured as error:
        return Finding(what, None, "×", bar, note=str(error))
    note = f"geometric mean of {len(ratios)} pages" + (f"; left out: {'; '.join(left_out)}" if left_out else "")
    return Finding(what, mean.value, "×", bar, mean.spread, note)


async def snapshots(bench: Bench) -> Sequence[Finding]:
    pages = large_pages()
    if bench.quick:
        pages = {name: html for name, html in pages.items() if name.startswith(_QUICK)}
    table = await measured(pages, bench.choose(5, 2))
    facts = {
        name: {**about, "ms": {tool: one.values for tool, one in samples.items()}}
        for name, (samples, about) in table.items()
    }
    slowest = max(facts, key=lambda name: facts[name]["script_ms"])
    largest = max(facts, key=lambda name: facts[name]["json_bytes"])
    kind = "generated" if next(iter(pages)).startswith("generated") else "saved"
    return [
        Finding(
            "snapshot's script in the slowest page", facts[slowest]["script_ms"], "ms", below(100),
            note=f"{slowest}, {facts[slowest]['nodes']} elements, of {len(facts)} {kind} pages", facts=facts,
        ),
        Finding(
            "raw JSON of the largest snapshot", facts[largest]["json_bytes"] / 1000, "kB", below(100), note=largest
        ),
        _beside(table, AGENT, OURS, at_least(20)),
        _beside(table, PLAYWRIGHT, OURS, at_least(15)),
        _beside(table, AGENT, WHOLE, at_least(8)),
        _beside(table, PLAYWRIGHT, WHOLE, at_least(6)),
    ]  # fmt: skip


async def growth(bench: Bench) -> Sequence[Finding]:
    """One kind of page in growing sizes: what a node more costs everybody."""
    sizes = _SIZES[:3] if bench.quick else _SIZES
    table = await measured({f"generated-{size}": generated(size) for size in sizes}, bench.choose(3, 2))
    points: dict[str, list[tuple[int, float]]] = {}
    for samples, about in table.values():
        for tool, one in samples.items():
            if not one.aborted and one.median > 0:
                points.setdefault(tool, []).append((about["nodes"], one.median))
    return [_exponent(tool, some) for tool, some in points.items()]


def _exponent(tool: str, points: list[tuple[int, float]]) -> Finding:
    """Of nodes, in time: 1 is proportional."""
    what = f"exponent of a snapshot's growth with the page's size: {tool}"
    (few, little), (many, long) = points[0], points[-1]
    if few == many:
        return Finding(what, None, "", note="fewer than two sizes could be measured")
    exponent = math.log(long / little) / math.log(many / few)
    note = f"{few} elements {little:.1f} ms, {many} elements {long:.0f} ms"
    return Finding(what, exponent, "", note=note, facts={"nodes_ms": points})
