"""Snapshots beside Playwright and agent-browser: the same browser, tab, pages and adb, one after the other.

python tools/bench/beside_peers.py [--rounds N] [--json FILE] [PART OF A PAGE'S NAME…]

A virtual device without quirks shows each saved page; every tool is connected to that very tab, the peers over a
forwarded port as they would be to a phone. They take turns, so that what else the machine does falls on all alike. Of
agent-browser, which is a program per call with a daemon behind it, the time of a call that asks for nothing
(`get url`) is taken off. The peers are installed into .cache/bench, in the versions below.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import http.server
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from snapshot_pages import pages_folder  # noqa: E402

from bridge import Session, TestServerGrant  # noqa: E402
from bridge.adb import AdbServer  # noqa: E402
from bridge.page.page import Page  # noqa: E402
from bridge.virtual_device.client import start_virtual_device  # noqa: E402

PEERS = {"agent-browser": "0.41.2", "playwright-core": "1.65.1"}
HOME = ROOT / ".cache" / "bench"
LIMIT_S = 120.0
UNBOUNDED = 50_000_000
# Saved pages draw themselves without their scripts, and ask nothing of the network.
_POLICY = "script-src 'none'; img-src 'none'; frame-src 'none'; font-src 'none'; connect-src 'none'; media-src 'none'"
_PLAYWRIGHT = """
const { chromium } = require('playwright-core');
(async () => {
  const browser = await chromium.connectOverCDP(process.argv[1], { noDefaults: true });
  const pages = browser.contexts().flatMap((context) => context.pages());
  const page = pages.find((one) => one.url().startsWith('http:'));
  console.log(JSON.stringify({ url: page.url() }));
  for await (const _ of require('readline').createInterface({ input: process.stdin })) {
    const began = process.hrtime.bigint();
    const text = await page.locator('body').ariaSnapshot();
    console.log(JSON.stringify({ ms: Number(process.hrtime.bigint() - began) / 1e6, chars: text.length }));
  }
})().catch((error) => console.log(JSON.stringify({ error: String(error) })));
"""


@dataclass
class Measured:
    """One tool on one page: a time and a size per round."""

    ms: list[float] = field(default_factory=list)
    chars: int = 0
    refs: int = 0
    notes: str = ""

    @property
    def median_ms(self) -> float:
        return statistics.median(self.ms) if self.ms else math.nan


class _SavedPages(http.server.BaseHTTPRequestHandler):
    pages: dict[str, Path]

    def do_GET(self) -> None:
        saved = self.pages.get(self.path.removeprefix("/"))
        body = gzip.decompress(saved.read_bytes()) if saved else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[int]:
    pages = {path.name.removesuffix(".html.gz"): path for path in folder.glob("*.html.gz")}
    handler = type("Handler", (_SavedPages,), {"pages": pages})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def install_peers() -> None:
    """npm puts the exact versions beside each other, outside of the project's own dependencies."""
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = {"private": True, "dependencies": PEERS}
    manifest = HOME / "package.json"
    if manifest.is_file() and json.loads(manifest.read_text()) == wanted and (HOME / "node_modules").is_dir():
        return
    manifest.write_text(json.dumps(wanted))
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("the peers come from npm, which is not here: install Node.js")
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent"], cwd=HOME, check=True)


@asynccontextmanager
async def playwright(port: int) -> AsyncIterator[Callable[[], Coroutine[Any, Any, dict[str, Any]]]]:
    process = await asyncio.create_subprocess_exec(
        "node", "-e", _PLAYWRIGHT, f"http://127.0.0.1:{port}", cwd=HOME, stdin=-1, stdout=-1
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def answer() -> dict[str, Any]:
        line = await asyncio.wait_for(stdout.readline(), LIMIT_S)
        found: dict[str, Any] = json.loads(line or b'{"error": "it ended"}')
        if "error" in found:
            raise SystemExit(f"Playwright: {found['error']}")
        return found

    async def snapshot() -> dict[str, Any]:
        stdin.write(b"\n")
        return await answer()

    try:
        await answer()
        yield snapshot
    finally:
        process.kill()
        await process.wait()


class AgentBrowser:
    """agent-browser's program, with a daemon of its own."""

    def __init__(self) -> None:
        self._environment = {**os.environ, "AGENT_BROWSER_SESSION": f"bench-{os.getpid()}"}

    async def run(self, *arguments: str) -> tuple[float, str]:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            HOME / "node_modules" / ".bin" / "agent-browser", *arguments, env=self._environment, stdout=-1, stderr=-1
        )
        out, err = await asyncio.wait_for(process.communicate(), LIMIT_S)
        if process.returncode:
            raise SystemExit(f"agent-browser {' '.join(arguments)}: {(out + err).decode(errors='replace')[:300]}")
        return (time.perf_counter() - began) * 1e3, out.decode(errors="replace")


async def ours(page: Page, into: Measured, **bounds: int) -> None:
    began = time.perf_counter()
    shot = await page.snapshot(timeout_s=LIMIT_S, **bounds)
    into.ms.append((time.perf_counter() - began) * 1e3)
    into.chars, into.refs = len(shot.text), len(shot.refs)
    into.notes = ",".join(shot.stats.truncate_reasons)


async def measure(names: list[str], folder: Path, rounds: int) -> dict[str, dict[str, Measured]]:
    table: dict[str, dict[str, Measured]] = {}
    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=20)
    with served(folder) as port:
        grant = TestServerGrant("127.0.0.1", port)
        async with (
            start_virtual_device(server=server, quirks=False, timeout_s=60) as device,
            Session.open(device.serial, grants=[grant]) as session,
        ):
            page = await session.new_tab(f"http://127.0.0.1:{port}/{names[0]}")
            agent = AgentBrowser()
            async with session.forward() as forwarded, playwright(forwarded) as aria_snapshot:
                await agent.run("connect", str(forwarded))
                try:
                    for name in names:
                        await page.goto(f"http://127.0.0.1:{port}/{name}", timeout_s=LIMIT_S)
                        table[name] = row = {
                            tool: Measured() for tool in ("ours", "ours, no budget", "playwright", "agent-browser")
                        }
                        for _ in range(rounds):
                            await ours(page, row["ours"])
                            await ours(page, row["ours, no budget"], max_chars=UNBOUNDED, max_nodes=1_000_000)
                            found = await aria_snapshot()
                            row["playwright"].ms.append(found["ms"])
                            row["playwright"].chars = found["chars"]
                            nothing_ms, _ = await agent.run("get", "url")
                            whole_ms, text = await agent.run("snapshot", "-i")
                            row["agent-browser"].ms.append(max(0.0, whole_ms - nothing_ms))
                            row["agent-browser"].chars = len(text)
                            row["agent-browser"].refs = text.count("[ref=")
                        print(line(name, row), flush=True)
                finally:
                    await agent.run("close")
    return table


def line(name: str, row: dict[str, Measured]) -> str:
    cells = "".join(f"{one.median_ms:>9.0f}{one.chars:>9}{one.refs or '':>6}" for one in row.values())
    return f"{name[:26]:27}{cells}  {row['ours'].notes}"


def ratio(table: dict[str, dict[str, Measured]], slower: str, faster: str) -> float:
    """Geometric mean over the pages of how many times as long the one takes."""
    logs = [math.log(row[slower].median_ms / row[faster].median_ms) for row in table.values()]
    return math.exp(statistics.fmean(logs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = pages_folder()
    names = sorted(path.name.removesuffix(".html.gz") for path in folder.glob("*.html.gz")) if folder else []
    names = [name for name in names if not options.wanted or any(part in name for part in options.wanted)]
    if folder is None or not names:
        print("no saved pages here: name their folder with BRIDGE_BENCH_PAGES; nothing is measured")
        return 0
    install_peers()
    heads = "".join(f"{tool:>24}" for tool in ("ours", "ours, no budget", "playwright", "agent-browser"))
    print(f"{'':27}{heads}\n{'page':27}{'ms    chars  refs':>24}{'ms    chars  refs':>24}{'ms    chars':>18}"
          f"{'ms    chars  refs':>30}")  # fmt: skip
    table = asyncio.run(measure(names, folder, options.rounds))
    bars = [
        ("agent-browser", "ours", 20.0),
        ("playwright", "ours", 15.0),
        ("agent-browser", "ours, no budget", 8.0),
        ("playwright", "ours, no budget", 6.0),
    ]
    missed = 0
    for slower, faster, bar in bars:
        found = ratio(table, slower, faster)
        missed += found < bar
        print(f"{slower} takes {found:.1f} × as long as {faster} (geometric mean; bar {bar:g} ×)")
    if options.json:
        facts = {
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.platform()}",
            "date": time.strftime("%Y-%m-%d"),
            "peers": PEERS,
            "rounds": options.rounds,
            "pages": {name: {tool: asdict(one) for tool, one in row.items()} for name, row in table.items()},
            "ratios": {f"{slower} / {faster}": ratio(table, slower, faster) for slower, faster, _ in bars},
        }
        options.json.write_text(json.dumps(facts, indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
