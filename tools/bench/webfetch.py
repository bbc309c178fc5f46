"""What webfetch costs beyond bare httpx and the conversion, and how long snapshots of plain HTML take.

python tools/bench/webfetch.py [--json FILE] [PART OF A NAME…]

Both fetch the same page from the same server on loopback, gzipped, in turns; the bare one with a new
`httpx.AsyncClient` per page, as webfetch keeps no connection either, and the same calls of the converter behind it.
"""

from __future__ import annotations

import asyncio
import gzip
import http.server
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bridge.policy import TestServerGrant, policy_for  # noqa: E402
from bridge.policy.pinning import PinnedEgress  # noqa: E402
from bridge.reading.document import truncated  # noqa: E402
from bridge.reading.extract import main_content  # noqa: E402
from bridge.reading.fetch import webfetch  # noqa: E402
from bridge.reading.markdown import to_blocks  # noqa: E402
from bridge.snapshot.html import build_document, snapshot_html  # noqa: E402
from bridge.snapshot.html_parse import parse_html  # noqa: E402

RUNS = 9
#: Made once for the bare client too: loading the authorities takes it longer than many a page.
TLS = httpx.create_ssl_context(trust_env=False)
MAX_RATIO = 1.2
#: 600 kB of HTML in 300 ms; larger pages in proportion.
MAX_SNAPSHOT_MS_PER_KB = 300 / 600
SMALL = (
    "<!doctype html><title>Small</title><h1>Small</h1>" + "<p>One of twenty short paragraphs, with a comma.</p>" * 20
)


def pages_folder() -> Path | None:
    """The folder that $BRIDGE_BENCH_PAGES names, else shared/data/pages beside the project or one of its parents."""
    named = os.environ.get("BRIDGE_BENCH_PAGES")
    candidates = [Path(named)] if named else [up / "shared" / "data" / "pages" for up in ROOT.parents]
    return next((folder for folder in candidates if folder.is_dir()), None)


@contextmanager
def serve(pages: dict[str, bytes]) -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages[self.path]
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def bare(url: str) -> str:
    async with httpx.AsyncClient(verify=TLS, trust_env=False, timeout=30) as client:
        response = await client.get(url)
        response.raise_for_status()
    content = main_content(parse_html(response.text), url=url)
    blocks = to_blocks(content.tree, base_url=url, title=content.title)
    return truncated(blocks, 50_000)[0]


async def timed_ms(call: Callable[[str], Awaitable[object]], url: str) -> float:
    started = time.perf_counter()
    await call(url)
    return (time.perf_counter() - started) * 1000


async def compare(url: str, egress: PinnedEgress) -> tuple[float, float]:
    async def ours(url: str) -> str:
        return (await webfetch(url, egress=egress)).markdown

    theirs_ms, ours_ms = [], []
    for run in range(RUNS + 1):
        pair = [(bare, theirs_ms), (ours, ours_ms)]
        for call, times in pair if run % 2 else reversed(pair):
            spent = await timed_ms(call, url)
            if run:  # the first one warms up
                times.append(spent)
    return statistics.median(theirs_ms), statistics.median(ours_ms)


def snapshot_ms(html: str) -> tuple[float, int]:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        shot = snapshot_html(build_document(html))
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), len(shot.text)


def main(arguments: list[str]) -> int:
    target = Path(arguments[arguments.index("--json") + 1]) if "--json" in arguments else None
    wanted = [part for part in arguments if part != "--json" and part != str(target)]
    folder = pages_folder()
    pages = {"small": SMALL.encode()}
    if folder is None:
        print("no saved pages here: name their folder with BRIDGE_BENCH_PAGES; only a small page is measured")
    for path in sorted(folder.glob("*.html.gz")) if folder else []:
        pages[path.name.removesuffix(".html.gz")] = gzip.decompress(path.read_bytes())
    pages = {name: body for name, body in pages.items() if not wanted or any(part in name for part in wanted)}
    results = []
    print(f"{'page':34}{'kB':>6}{'bare ms':>9}{'ours ms':>9}{'ratio':>7}{'snapshot ms':>13}{'chars':>8}")
    with serve({f"/{name}": gzip.compress(body) for name, body in pages.items()}) as port:
        egress = PinnedEgress(policy_for("operator"), [TestServerGrant("127.0.0.1", port)])
        for name, body in pages.items():
            theirs, ours = asyncio.run(compare(f"http://127.0.0.1:{port}/{name}", egress))
            spent, chars = snapshot_ms(body.decode("utf-8", "replace"))
            wrong = [
                *(["overhead"] if ours > MAX_RATIO * theirs else []),
                *(["snapshot"] if spent > max(300, MAX_SNAPSHOT_MS_PER_KB * len(body) / 1000) else []),
                *(["budget"] if chars > 12_000 else []),
            ]
            results.append({"page": name, "bare_ms": theirs, "ours_ms": ours, "snapshot_ms": spent, "wrong": wrong})
            print(
                f"{name[:33]:34}{len(body) / 1000:6.0f}{theirs:9.1f}{ours:9.1f}{ours / theirs:7.2f}"
                f"{spent:13.1f}{chars:8}  {' '.join(wrong)}"
            )
    ratio = statistics.geometric_mean(one["ours_ms"] / one["bare_ms"] for one in results)
    print(f"overhead over bare httpx and the conversion: {ratio:.2f} × (bar: {MAX_RATIO} ×)")
    if target is not None:
        target.write_text(json.dumps({"overhead": ratio, "pages": results}, indent=1))
    return 1 if ratio > MAX_RATIO or any(one["wrong"] for one in results if one["page"] != "small") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
