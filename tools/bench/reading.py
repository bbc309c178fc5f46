#!/usr/bin/env python3
"""Main content and Markdown beside trafilatura, readability-lxml, markdownify and html2text, in one process.

usage: tools/bench/reading.py [--live] [--json FILE]

The articles are those of shared/data beside the project, or of the folder BRIDGE_BENCH_ARTICLES. The peers are
installed into a virtual environment of their own below .cache/, never into the project's.

With --live the articles are served from loopback, rendered on a virtual device, where nothing else of the web can be
reached, and read with Page.read: F1 of that beside the plain HTML's, and the pages that differ most. It runs in the
project's own environment (PYTHONPATH=. python tools/bench/reading.py --live).
"""

from __future__ import annotations

import asyncio
import gzip
import http.server
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ARTICLES = Path(os.environ.get("BRIDGE_BENCH_ARTICLES", ROOT.parent / "shared" / "data" / "articles"))
PEERS = ROOT / ".cache" / "bench-reading"
PACKAGES = ("trafilatura", "readability-lxml", "markdownify", "html2text", "markdown-it-py", "lxml")
ROUNDS = 3
UNIT = (
    '<div class="x"><h2>Head</h2><p>Some <b>bold</b> text, with a <a href="/a?c=1">link here</a> and words, '
    "which go on for a while as words do in paragraphs; <code>code()</code> too.</p><ul><li>one <a href=x>x</a></li>"
    "<li>two</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    "<pre>x = 1\ny</pre></div>\n"
)


def main() -> None:
    if not ARTICLES.is_dir():
        sys.exit(f"no articles at {ARTICLES}")
    if "--live" in sys.argv:
        sys.path[:0] = [str(ARTICLES)]
        write({"live": asyncio.run(live())})
        return
    if importlib.util.find_spec("trafilatura") is None:
        run_with_peers()
    sys.path[:0] = [str(ROOT), str(ARTICLES)]
    write({"articles": articles(), "markdown": conversion(), "flatness": flatness()})


def write(report: dict[str, Any]) -> None:
    if "--json" in sys.argv:
        Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(report, indent=1))


def run_with_peers() -> None:
    python = PEERS / "bin" / "python"
    if not python.exists():
        venv.create(PEERS, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-U", "pip"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])  # noqa: S606


def articles() -> dict[str, Any]:
    """F1, and what is kept of the tables, code blocks and links whose text the truth holds."""
    from score import shingles  # type: ignore[import-not-found]

    truth = json.loads((ARTICLES / "ground-truth.json").read_text("utf-8"))
    tools = extractors()
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in tools}
    seconds: dict[str, list[float]] = {name: [] for name in tools}
    kept = {name: {"links": 0, "tables": 0, "code": 0} for name in tools}
    there = {"links": 0, "tables": 0, "code": 0}
    for key, page in sorted(truth.items()):
        html = gzip.decompress((ARTICLES / "html" / f"{key}.html.gz").read_bytes()).decode("utf-8", "replace")
        wanted = shingles(page["articleBody"])
        structure = in_truth(html, page["articleBody"])
        for kind, items in structure.items():
            there[kind] += len(items)
        for name, extract in tools.items():
            took = []
            for _ in range(ROUNDS):
                started = time.perf_counter()
                markdown = extract(html, page["url"])
                took.append(time.perf_counter() - started)
            seconds[name].append(statistics.median(took))
            found = shingles(plain(markdown))
            hit = sum((found & wanted).values())
            rows[name].append((hit / max(1, sum(found.values())), hit / max(1, sum(wanted.values()))))
            for kind, count in structure_kept(markdown, structure).items():
                kept[name][kind] += count
    out = {}
    ours_ms = statistics.median(seconds["webview-bridge"])
    print(f"{len(truth)} articles; {there['links']} links, {there['tables']} tables, {there['code']} code blocks")
    print(f"{'':16} {'F1':>6} {'prec.':>6} {'recall':>6} {'time':>6}  kept: links tables code")
    for name in tools:
        precision = statistics.mean(row[0] for row in rows[name])
        recall = statistics.mean(row[1] for row in rows[name])
        f1 = 2 * precision * recall / (precision + recall)
        ratio = statistics.median(seconds[name]) / ours_ms
        shares = {kind: kept[name][kind] / there[kind] if there[kind] else None for kind in there}
        shown = " ".join(f"{share:6.2f}" if share is not None else "     –" for share in shares.values())
        print(f"{name:16} {f1:6.4f} {precision:6.4f} {recall:6.4f} {ratio:5.1f}x       {shown}")
        out[name] = {"f1": f1, "precision": precision, "recall": recall, "time_ratio": ratio, "kept": shares}
    return out


async def live() -> dict[str, Any]:
    """F1 of what is read of the rendered pages, as score.py counts it."""
    from score import shingles

    from bridge import BrowserPolicy, Session, TestServerGrant
    from bridge.errors import BridgeError
    from bridge.reading.extract import main_content
    from bridge.reading.markdown import to_markdown
    from bridge.reading.parsing import parse_html

    truth = json.loads((ARTICLES / "ground-truth.json").read_text("utf-8"))
    rows: dict[str, dict[str, tuple[float, float]]] = {"rendered": {}, "fetched": {}}
    with article_server() as port:
        grant = TestServerGrant("127.0.0.1", port)
        async with Session.open("virtual", policy=BrowserPolicy(), grants=[grant]) as session:
            page = await session.new_tab()
            for key, article in sorted(truth.items()):
                html = gzip.decompress((ARTICLES / "html" / f"{key}.html.gz").read_bytes()).decode("utf-8", "replace")
                fetched = to_markdown(main_content(parse_html(html), url=article["url"]).tree)
                try:
                    # What cannot be reached keeps some pages from ever being loaded; their text is there long before.
                    await page.goto(f"http://127.0.0.1:{port}/{key}", wait_until="domcontentloaded", timeout_s=60)
                    rendered = (await page.read(max_length=0, timeout_s=60)).markdown
                except BridgeError as error:
                    print(f"{key[:16]}: {error}")
                    rendered = ""
                wanted = shingles(article["articleBody"])
                for name, markdown in (("rendered", rendered), ("fetched", fetched)):
                    found = shingles(plain(markdown))
                    hit = sum((found & wanted).values())
                    rows[name][key] = (hit / max(1, sum(found.values())), hit / max(1, sum(wanted.values())))
    out: dict[str, Any] = {}
    for name, scores in rows.items():
        precision = statistics.mean(score[0] for score in scores.values())
        recall = statistics.mean(score[1] for score in scores.values())
        out[name] = {"f1": 2 * precision * recall / (precision + recall), "precision": precision, "recall": recall}
        print(f"{name:9} F1 {out[name]['f1']:.4f}, precision {precision:.4f}, recall {recall:.4f}")
    for key in sorted(truth, key=lambda key: sum(rows["rendered"][key]) - sum(rows["fetched"][key]))[:8]:
        there, here = rows["rendered"][key], rows["fetched"][key]
        print(
            f"{key[:16]} {truth[key]['url'][:70]:70} {there[0]:.2f} {there[1]:.2f} fetched {here[0]:.2f} {here[1]:.2f}"
        )
    return out


@contextmanager
def article_server() -> Iterator[int]:
    """The saved pages at /KEY; everything else is not there."""

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            file = ARTICLES / "html" / f"{Path(self.path).name}.html.gz"
            body = file.read_bytes() if file.is_file() else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            if body:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def extractors() -> dict[str, Callable[[str, str], str]]:
    import html2text
    import markdownify
    import readability
    import trafilatura

    from bridge.reading.extract import main_content
    from bridge.reading.markdown import to_markdown
    from bridge.reading.parsing import parse_html

    def ours(html: str, url: str) -> str:
        return to_markdown(main_content(parse_html(html), url=url).tree, base_url=url)

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
        "webview-bridge": ours,
        "trafilatura": trafilatura_text,
        "trafilatura md": trafilatura_markdown,
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


def conversion() -> dict[str, float]:
    """The whole page to Markdown, without extraction."""
    import html2text
    import markdownify

    from bridge.reading.markdown import to_markdown

    html = f"<html><body>{UNIT * (500_000 // len(UNIT))}</body></html>"
    tools = {"webview-bridge": to_markdown, "markdownify": markdownify.markdownify, "html2text": html2text.html2text}
    took: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(ROUNDS):
        for name, convert in tools.items():
            started = time.perf_counter()
            convert(html)
            took[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(times) for name, times in took.items()}
    ours = medians["webview-bridge"]
    print(f"\n500 kB of dense markup to Markdown: {ours * 1e3:.0f} ms; ", end="")
    print(", ".join(f"{name} {took_s / ours:.1f}x" for name, took_s in medians.items()))
    return medians


def flatness() -> dict[int, float]:
    """Nanoseconds per byte from 10 kB to 5 MB: extraction and conversion."""
    from bridge.reading.extract import main_content
    from bridge.reading.markdown import to_markdown
    from bridge.reading.parsing import parse_html

    out = {}
    for size in (10_000, 100_000, 1_000_000, 5_000_000):
        html = f"<html><body>{UNIT * (size // len(UNIT))}</body></html>"
        took = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            to_markdown(main_content(parse_html(html)).tree)
            took.append(time.perf_counter() - started)
        out[size] = statistics.median(took) / size * 1e9
    print("extraction and conversion, ns per byte: " + ", ".join(f"{size:,} B {ns:.0f}" for size, ns in out.items()))
    return out


if __name__ == "__main__":
    main()
