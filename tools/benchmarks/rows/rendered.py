"""Main content of rendered pages: the articles opened on a virtual device and read, beside the same from plain HTML."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from bridge.errors import BridgeError
from bridge.reading.extract import main_content
from bridge.reading.markdown import to_markdown
from bridge.reading.parsing import parse_html
from tools.benchmarks.bench import Bench, opened
from tools.benchmarks.measuring import Finding, NotMeasured
from tools.benchmarks.pages import served, shared_folder
from tools.benchmarks.peer_programs.readers import plain, unpacked

Score = tuple[float | None, float | None]


async def rendered(bench: Bench) -> Sequence[Finding]:
    folder = shared_folder("articles", "BRIDGE_BENCH_ARTICLES")
    if folder is None:
        raise NotMeasured("no articles here: name their folder with BRIDGE_BENCH_ARTICLES")
    truth = dict(sorted(json.loads((folder / "ground-truth.json").read_text("utf-8")).items())[:: bench.choose(1, 8)])
    scores: dict[str, list[Score]] = {"rendered": [], "plain HTML": []}
    failed, not_shown = [], []
    pages = {key: (folder / "html" / f"{key}.html.gz").read_bytes() for key in truth}
    with served(pages, is_gzip=True, scripts=True) as site:
        # Nothing else of the web can be reached from here; some of these pages ask for it.
        async with opened([site.grant]) as (_, _, page):
            for key, article in truth.items():
                try:
                    # What cannot be reached keeps some pages from ever being loaded; their text is there long before.
                    await page.goto(site.url(key), wait_until="domcontentloaded", timeout_s=60)
                    markdown = (await page.read(max_length=0, timeout_s=60)).markdown
                    # The title that read puts first is no part of the article's body, which is what the truth is.
                    first, _, rest = markdown.partition("\n\n")
                    markdown = rest if first.startswith("# ") else markdown
                    everything = (await page.read(mode="raw", max_length=0, timeout_s=60)).markdown
                    if (_score(folder, everything, article["articleBody"])[1] or 0) < 0.5:
                        not_shown.append(key)
                except BridgeError as error:
                    failed.append(f"{key[:12]}: {error.code}")
                    markdown = ""
                extracted = to_markdown(main_content(parse_html(unpacked(pages[key])), url=article["url"]).tree)
                scores["rendered"].append(_score(folder, markdown, article["articleBody"]))
                scores["plain HTML"].append(_score(folder, extracted, article["articleBody"]))
    ours, fetched = f1(scores["rendered"]), f1(scores["plain HTML"])
    shown = f1([score for key, score in zip(truth, scores["rendered"], strict=True) if key not in not_shown])
    note = f"{fetched:.4f} from their plain HTML; {len(truth)} pages" + (f"; failed: {failed}" if failed else "")
    if not_shown:
        note += f"; {shown:.4f} without {len(not_shown)} whose scripts show no article where there is no network"
    return [Finding("main content of rendered pages, F1", ours, "", note=note)]


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
