"""How long a snapshot of large saved pages takes in the page, and how much of it goes over the wire.

python tools/bench/snapshot_pages.py [PART OF A NAME…]
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "snapshot"))

from browser import Origin, chromium, open_page, serve  # noqa: E402
from raw_tree import words  # noqa: E402

RUNS = 5
MAX_MS = 100
MAX_BYTES = 100_000
BUDGET = 80_000  # `budgetChars` as the bridge leaves it


def pages_folder() -> Path | None:
    """The folder that $BRIDGE_BENCH_PAGES names, else shared/data/pages beside the project or one of its parents."""
    named = os.environ.get("BRIDGE_BENCH_PAGES")
    candidates = [Path(named)] if named else [up / "shared" / "data" / "pages" for up in ROOT.parents]
    return next((folder for folder in candidates if folder.is_dir()), None)


def main(wanted: list[str]) -> int:
    folder = pages_folder()
    paths = sorted(folder.glob("*.html.gz")) if folder else []
    paths = [path for path in paths if not wanted or any(part in path.name for part in wanted)]
    if not paths:
        print("no saved pages here: name their folder with BRIDGE_BENCH_PAGES; nothing is measured")
        return 0
    print(f"{'page':34}{'elements':>9}{'ms':>8}{'bytes':>9}{'text':>8}{'refs':>6}  {'':6}reasons")
    failed = 0
    with chromium() as address, serve(Path(__file__).parent) as origin:
        for path in paths:
            name = path.name.removesuffix(".html.gz")
            Origin.pages = {"/page.html": gzip.decompress(path.read_bytes())}
            with open_page(address, origin) as page:
                # A saved page asks for nothing from outside, and its scripts do not run.
                page.cdp("Network.enable")
                page.cdp("Network.setBlockedURLs", urls=["https://*", "http://*.*.*/*.js", "http://*/*?*"])
                page.cdp("Emulation.setScriptExecutionDisabled", value=True)
                page.goto("/page.html")
                raws = [page.snapshot(cursorInteractive=True) for _ in range(RUNS)]
            raw = raws[-1]
            ms = statistics.median(one["stats"]["jsTimeMs"] for one in raws)
            text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
            size = len(text.encode())
            wrong = [
                what
                for what, bad in (
                    (f"≥ {MAX_MS} ms", ms >= MAX_MS),
                    (f"≥ {MAX_BYTES} bytes", size >= MAX_BYTES),
                    ("over budget", size > BUDGET * 1.1),
                )
                if bad
            ]
            failed += bool(wrong)
            print(
                f"{name[:33]:34}{raw['stats']['domNodes']:>9}{ms:>8.1f}{size:>9}{len(words(raw)):>8}"
                f"{text.count(chr(34) + 'ref' + chr(34) + ':'):>6}  {'FAIL' if wrong else 'ok':6}"
                f"{','.join(raw['reasons']) or '-'}{'  (' + ', '.join(wrong) + ')' if wrong else ''}",
                flush=True,
            )
    passed = f"{len(paths) - failed} of {len(paths)} pages pass"
    print(f"{passed}: < {MAX_MS} ms, < {MAX_BYTES} bytes, within the budget of {BUDGET}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
