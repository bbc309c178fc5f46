"""Main content of rendered pages: the articles opened on a virtual device and read, beside the same from plain HTML."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.errors import BridgeError
from bridge.reading.main_content import main_content
from bridge.reading.markdown import to_markdown
from bridge.reading.parsing import parse_html
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Bar, Finding, NotMeasured
from tools.benchmarks.pages import served, shared_folder
from tools.benchmarks.peer_programs.readers import plain, unpacked

Score = tuple[float | None, float | None]


# trafilatura's on the plain HTML of these 54 pages (shared/data).
_TRAFILATURA_F1 = 0.966


async def rendered(bench: Bench) -> Sequence[Finding]:
    """The articles as their servers sent them, and with their scripts, which find no network here."""
    folder = shared_folder("articles", "BRIDGE_BENCH_ARTICLES")
    if folder is None:
        raise NotMeasured("no articles here: name their folder with BRIDGE_BENCH_ARTICLES")
    every = bench.choose(1, 12)
    truth = dict(sorted(json.loads((folder / "ground-truth.json").read_text("utf-8")).items())[::every])
    pages = {key: (folder / "html" / f"{key}.html.gz").read_bytes() for key in truth}
    plain_html = [
        _score(folder, to_markdown(main_content(parse_html(unpacked(pages[key]))).tree), wanted)
        for key, wanted in ((key, article["articleBody"]) for key, article in truth.items())
    ]
    bar = Bar(">", _TRAFILATURA_F1) if every == 1 else None
    findings = []
    for scripts, what in ((False, "as their servers sent them"), (True, "with their scripts, without a network")):
        scores, failed, not_shown = await _read(pages, truth, folder, scripts=scripts)
        note = f"{f1(plain_html):.4f} from their plain HTML; {len(truth)} pages"
        note += f"; failed: {failed}" if failed else ""
        if not_shown:
            shown = f1([score for key, score in scores.items() if key not in not_shown])
            note += f"; {shown:.4f} without {len(not_shown)} whose scripts show no article where there is no network"
        name = f"main content of rendered pages, {what}, F1"
        findings.append(Finding(name, f1(list(scores.values())), "", None if scripts else bar, note=note))
    return findings


async def _read(
    pages: dict[str, bytes], truth: dict[str, Any], folder: Path, *, scripts: bool
) -> tuple[dict[str, Score], list[str], list[str]]:
    """Scores by page, which failed, and which show less than half of their article in all they show."""
    scores: dict[str, Score] = {}
    failed, not_shown = [], []
    with served(pages, is_gzip=True, scripts=scripts) as site:
        # Nothing else of the web can be reached from here; some of these pages ask for it.
        async with opened([site.grant]) as (_, _, page):
            for key, article in truth.items():
                try:
                    # What cannot be reached keeps some pages from ever being loaded; their text is there long before.
                    await page.goto(site.url(key), wait_until="domcontentloaded", timeout_s=60)
                    markdown = (await page.read(max_length=0, timeout_s=60)).markdown
                    # `read` puts the title first; the reference text holds the article's body only.
                    first, _, rest = markdown.partition("\n\n")
                    markdown = rest if first.startswith("# ") else markdown
                    everything = (await page.read(mode="raw", max_length=0, timeout_s=60)).markdown
                    if (_score(folder, everything, article["articleBody"])[1] or 0) < 0.5:
                        not_shown.append(key)
                except BridgeError as error:
                    failed.append(f"{key[:12]}: {error.code}")
                    markdown = ""
                scores[key] = _score(folder, markdown, article["articleBody"])
    return scores, failed, not_shown


def _score(folder: Path, markdown: str, wanted: str) -> Score:
    """Precision and recall as score.py has them: an empty answer has no precision, an empty truth no recall."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    from score import shingles  # type: ignore[import-not-found]

    found, truth = shingles(plain(markdown)), shingles(wanted)
    hit = sum((found & truth).values())
    return (hit / sum(found.values()) if found else None, hit / sum(truth.values()) if truth else None)


def f1(scores: Sequence[Score]) -> float:
    """The harmonic mean of the means."""
    precision = statistics.mean([score[0] for score in scores if score[0] is not None] or [0.0])
    recall = statistics.mean([score[1] for score in scores if score[1] is not None] or [0.0])
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
