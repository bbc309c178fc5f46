"""Main content and Markdown beside trafilatura, readability-lxml, markdownify and html2text, in one process.

readers.py --rounds N [--articles FOLDER] [--segments FOLDER] [--every N]

Run by rows/reading.py in the peers' own virtual environment; prints JSON: milliseconds per round, F1, what is kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

UNIT = (
    '<div class="x"><h2>Head</h2><p>Some <b>bold</b> text, with a <a href="/a?c=1">link here</a> and words, '
    "which go on for a while as words do in paragraphs; <code>code()</code> too.</p><ul><li>one <a href=x>x</a></li>"
    "<li>two</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    "<pre>x = 1\ny</pre></div>\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--articles", type=Path)
    parser.add_argument("--segments", type=Path)
    parser.add_argument("--every", type=int, default=1, help="read only every Nth page")
    options = parser.parse_args()
    report: dict[str, Any] = {
        "conversion_ms": conversion(options.rounds),
        "structure": structure(),
        "flatness": flatness(),
    }
    if options.articles is not None:
        report["articles"] = articles(options.articles, options.every)
    if options.segments is not None:
        report["segments"] = segments(options.segments, options.every)
    print(json.dumps(report))


def segments(folder: Path, every: int) -> dict[str, Any]:
    """Which passages each tool keeps of those that belong to a page's text, and of those that do not."""
    pages = dict(sorted(json.loads((folder / "segments.json").read_text("utf-8")).items())[::every])
    tools = {name: tool for name, tool in extractors().items() if name not in ("markdownify", "html2text")}
    counts = {name: [0, 0, 0] for name in tools}
    for url, page in pages.items():
        html = gzip.decompress((folder / "html" / f"{page['file']}.gz").read_bytes()).decode("utf-8", "replace")
        wanted, unwanted = (list(map(_one_line, page.get(kind) or [])) for kind in ("with", "without"))
        for name, extract in tools.items():
            text = extract(html, url)
            text = _one_line(text if name == "trafilatura" else plain(text))
            found = sum(passage in text for passage in wanted)
            for place, number in enumerate((found, len(wanted) - found, sum(passage in text for passage in unwanted))):
                counts[name][place] += number
    return {"count": len(pages), "tools": {name: _ratios(*numbers) for name, numbers in counts.items()}}


def _ratios(found: int, missed: int, unwanted: int) -> dict[str, float]:
    precision = found / (found + unwanted) if found + unwanted else 0.0
    recall = found / (found + missed) if found + missed else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"f1": f1, "precision": precision, "recall": recall}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def articles(folder: Path, every: int) -> dict[str, Any]:
    """F1, and what is kept of the tables, code blocks and links whose text the truth holds; the tools take turns."""
    sys.path.insert(0, str(folder))
    from score import shingles  # type: ignore[import-not-found]

    truth = dict(sorted(json.loads((folder / "ground-truth.json").read_text("utf-8")).items())[::every])
    tools = extractors()
    rows: dict[str, list[tuple[float | None, float | None]]] = {name: [] for name in tools}
    spent_ms: dict[str, list[float]] = {name: [] for name in tools}
    kept = {name: {"links": 0, "tables": 0, "code": 0} for name in tools}
    there = {"links": 0, "tables": 0, "code": 0}
    for key, page in truth.items():
        html = unpacked((folder / "html" / f"{key}.html.gz").read_bytes())
        wanted = shingles(page["articleBody"])
        structure = in_truth(html, page["articleBody"])
        for kind, items in structure.items():
            there[kind] += len(items)
        for name, extract in tools.items():
            began = time.perf_counter()
            markdown = extract(html, page["url"])
            spent_ms[name].append((time.perf_counter() - began) * 1000)
            found = shingles(plain(markdown))
            hit = sum((found & wanted).values())
            # As score.py has it: an empty answer has no precision, an empty truth no recall.
            rows[name].append(
                (
                    hit / sum(found.values()) if found else None,
                    hit / sum(wanted.values()) if wanted else None,
                )
            )
            for kind, count in structure_kept(markdown, structure).items():
                kept[name][kind] += count
    return {
        "count": len(truth),
        "tools": {name: _scored(rows[name], spent_ms[name], kept[name], there) for name in tools},
    }


def _scored(
    rows: list[tuple[float | None, float | None]], spent_ms: list[float], kept: dict[str, int], there: dict[str, int]
) -> dict[str, Any]:
    precision = statistics.mean(row[0] for row in rows if row[0] is not None)
    recall = statistics.mean(row[1] for row in rows if row[1] is not None)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    shares = {kind: kept[kind] / there[kind] if there[kind] else None for kind in there}
    return {"f1": f1, "precision": precision, "recall": recall, "kept": shares, "ms": spent_ms}


def unpacked(html: bytes) -> str:
    return gzip.decompress(html).decode("utf-8", "replace")


def extractors() -> dict[str, Callable[[str, str], str]]:
    import html2text
    import markdownify
    import readability
    import trafilatura

    from bridge.reading.main_content import main_content
    from bridge.reading.markdown import to_markdown
    from bridge.reading.parsing import parse_html

    def ours(html: str, url: str) -> str:
        return to_markdown(main_content(parse_html(html)).tree, base_url=url)

    def trafilatura_markdown(html: str, url: str) -> str:
        return (
            trafilatura.extract(
                html, url=url, include_links=True, include_tables=True, include_comments=False, output_format="markdown"
            )
            or ""
        )

    def trafilatura_text(html: str, url: str) -> str:
        return trafilatura.extract(html, url=url, include_comments=False) or ""

    def readability_markdown(html: str, url: str) -> str:
        try:
            return str(markdownify.markdownify(readability.Document(html, url=url).summary()))
        except (readability.readability.Unparseable, ValueError):
            return ""

    return {
        "ours": ours,
        "trafilatura": trafilatura_text,
        "trafilatura, Markdown": trafilatura_markdown,
        "readability-lxml": readability_markdown,
        "markdownify": lambda html, url: str(markdownify.markdownify(html, strip=["script", "style"])),
        "html2text": lambda html, url: str(html2text.html2text(html)),
    }


def plain(markdown: str) -> str:
    """Markdown as text, as score.py asks for."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    out: list[str] = []
    for token in parser.parse(markdown):
        if token.type == "inline":
            texts = (child.content if child.type in ("text", "code_inline") else "\n" for child in token.children or ()
                     if child.type in ("text", "code_inline", "softbreak", "hardbreak"))  # fmt: skip
            out.append("".join(texts) + "\n")
        elif token.type in ("fence", "code_block"):
            out.append(f"{token.content}\n")
    return "".join(out)


def in_truth(html: str, body: str) -> dict[str, list[str]]:
    """What of the page's structure stands in the true text: words of links, of a table's cells, of code."""
    from bridge.reading.parsing import parse_html

    tree = parse_html(html)
    words = " ".join(body.split())
    links = {text for a in tree.iter("a") if a.get("href") and len(text := _folded(a)) > 12 and text in words}
    tables = []
    for table in tree.iter("table"):
        cells = [_folded(cell) for cell in table.iter("td")]
        if len(cells) > 3 and sum(cell in words for cell in cells if cell) > 0.8 * len(cells):
            tables.append(cells[0] or cells[1])
    code = [text for pre in tree.iter("pre") if len(text := _folded(pre)) > 5 and text in words]
    return {"links": sorted(links), "tables": tables, "code": code}


def _folded(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def structure_kept(markdown: str, structure: dict[str, list[str]]) -> dict[str, int]:
    links = {" ".join(re.sub(r"[*`\\~]", "", text).split()) for text in re.findall(r"(?<!!)\[([^\]]+)\]\(", markdown)}
    rows = [line for line in markdown.split("\n") if line.strip().startswith("|")]
    code = "\n".join(re.findall(r"```.*?```", markdown, re.DOTALL))
    return {
        "links": sum(text in links for text in structure["links"]),
        "tables": sum(any(text in row for row in rows) for text in structure["tables"]),
        "code": sum(text.split()[0] in code for text in structure["code"]),
    }


def conversion(rounds: int) -> dict[str, list[float]]:
    """The whole page to Markdown, without extraction; the tools take turns."""
    import html2text
    import markdownify

    from bridge.reading.markdown import to_markdown

    html = f"<html><body>{UNIT * (500_000 // len(UNIT))}</body></html>"
    tools = {"ours": to_markdown, "markdownify": markdownify.markdownify, "html2text": html2text.html2text}
    spent_ms: dict[str, list[float]] = {name: [] for name in tools}
    for number in range(rounds + 1):
        for name, convert in tools.items():
            began = time.perf_counter()
            convert(html)
            if number:  # the first one warms up
                spent_ms[name].append((time.perf_counter() - began) * 1000)
    return spent_ms


def structure() -> dict[str, dict[str, float]]:
    """Which share of links, tables' rows and code each tool keeps of pages of documentation."""
    from tools.benchmarks.peer_programs.documentation import kept_of, pages

    tools = {name: tool for name, tool in extractors().items() if name != "trafilatura"}
    kept = {name: {"links": 0, "tables": 0, "code": 0} for name in tools}
    there = {"links": 0, "tables": 0, "code": 0}
    for html, wanted in pages():
        for kind, items in wanted.items():
            there[kind] += len(items)
        for name, extract in tools.items():
            for kind, count in kept_of(extract(html, "http://docs.example/guide/"), wanted).items():
                kept[name][kind] += count
    return {name: {kind: kept[name][kind] / there[kind] for kind in there} for name in tools}


def flatness() -> dict[int, float]:
    """Nanoseconds per byte from 10 kB to 5 MB: extraction and conversion."""
    from bridge.reading.main_content import main_content
    from bridge.reading.markdown import to_markdown
    from bridge.reading.parsing import parse_html

    out = {}
    for size in (10_000, 100_000, 1_000_000, 5_000_000):
        html = f"<html><body>{UNIT * (size // len(UNIT))}</body></html>"
        took = []
        for _ in range(3 if size < 1_000_000 else 1):  # a long one is its own mean
            began = time.perf_counter()
            to_markdown(main_content(parse_html(html)).tree)
            took.append(time.perf_counter() - began)
        out[size] = statistics.median(took) / size * 1e9
    return out


if __name__ == "__main__":
    main()
