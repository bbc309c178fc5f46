"""HTML to Markdown and main content beside trafilatura, readability-lxml, markdownify and html2text."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

from tools.benchmarks.bench import Bench
from tools.benchmarks.measuring import Aborted, Bar, Finding, Samples, at_least, below, median_finding, ratio_finding
from tools.benchmarks.pages import ROOT, shared_folder
from tools.benchmarks.peers import PROGRAMS, python_with_peers

_LIMIT_S = 900.0


async def reading(bench: Bench) -> Sequence[Finding]:
    python = await asyncio.to_thread(python_with_peers)
    articles = shared_folder("articles", "BRIDGE_BENCH_ARTICLES")
    command = [str(python), str(PROGRAMS / "readers.py"), "--rounds", str(bench.choose(9, 3))]
    if articles is not None:
        command += ["--articles", str(articles), "--every", str(bench.choose(1, 8))]
    segments = shared_folder("segments", "BRIDGE_BENCH_SEGMENTS")
    if segments is not None:
        command += ["--segments", str(segments), "--every", str(bench.choose(1, 8))]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=-1, stderr=-1)
    try:
        out, err = await asyncio.wait_for(process.communicate(), _LIMIT_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Aborted(f"the readers' program ended with {process.returncode}: {err.decode(errors='replace')[-300:]}")
    report = json.loads(out)
    return [
        *_conversion(report["conversion_ms"]),
        *_articles(report.get("articles")),
        _segments(report.get("segments")),
        _structure(report["structure"]),
        _flatness(report["flatness"]),
    ]


def _conversion(times: dict[str, list[float]]) -> list[Finding]:
    samples = {name: Samples(values) for name, values in times.items()}
    return [
        median_finding("500 kB of HTML to Markdown", samples["ours"], "ms", bar=below(200)),
        ratio_finding("500 kB of HTML to Markdown: markdownify", samples, "markdownify", "ours", bar=at_least(5)),
        ratio_finding("500 kB of HTML to Markdown: html2text", samples, "html2text", "ours"),
    ]


def _articles(report: dict[str, Any] | None) -> list[Finding]:
    what = "main content, F1 beside trafilatura's"
    if report is None:
        return [Finding(what, None, "", note="no articles here: name their folder with BRIDGE_BENCH_ARTICLES")]
    tools, ours = report["tools"], report["tools"]["ours"]
    theirs = max(tools["trafilatura"]["f1"], tools["trafilatura, Markdown"]["f1"])
    kept = ", ".join(f"{kind} {share:.2f}" for kind, share in ours["kept"].items() if share is not None)
    note = f"trafilatura {theirs:.4f} on {report['count']} articles; kept of what the truth holds: {kept}"
    samples = {name: Samples(one["ms"]) for name, one in tools.items()}
    return [
        Finding(what, ours["f1"], "", Bar(">", round(theirs, 4)), note=note, facts=tools),
        ratio_finding("main content, time of trafilatura", samples, "trafilatura, Markdown", "ours"),
    ]


def _segments(report: dict[str, Any] | None) -> Finding:
    what = "main content of pages of many kinds, F1 beside trafilatura's"
    if report is None:
        return Finding(what, None, "", note="no pages here: set BRIDGE_BENCH_SEGMENTS to their folder")
    tools = report["tools"]
    ours, theirs, readability = tools["ours"], tools["trafilatura"], tools["readability-lxml"]
    note = (
        f"precision {ours['precision']:.4f}, recall {ours['recall']:.4f}; trafilatura {theirs['f1']:.4f}, "
        f"readability-lxml {readability['f1']:.4f} on the same {report['count']} pages, from which our weights come"
    )
    return Finding(what, ours["f1"], "", Bar(">", round(theirs["f1"], 4)), note=note, facts=tools)


def _structure(shares: dict[str, dict[str, float]]) -> Finding:
    def described(name: str) -> str:
        return f"{name} " + " ".join(f"{kind} {share:.2f}" for kind, share in shares[name].items())

    worst = min(shares["ours"].values())
    what = "structure kept of documentation, the least of links, tables, code"
    return Finding(what, worst, "", note="; ".join(map(described, shares)), facts=shares)


def _flatness(ns_per_byte: dict[str, float]) -> Finding:
    small, large = ns_per_byte["10000"], ns_per_byte["5000000"]
    note = ", ".join(f"{int(size):,} B {ns:.0f}" for size, ns in ns_per_byte.items())
    return Finding("reading, time per byte: 5 MB / 10 kB", large / small, "×", note=f"ns per byte: {note}")
