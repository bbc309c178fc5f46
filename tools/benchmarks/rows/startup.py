"""From a cold `tools/run` to the first snapshot, and where the time goes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence

from bridge.surfaces.demo.server import serve_demo_pages
from tools.benchmarks.bench import Bench, own_adb_server
from tools.benchmarks.measuring import Aborted, Finding, Samples, median_finding
from tools.benchmarks.pages import ROOT
from tools.benchmarks.peers import PROGRAMS

PARTS = ("set-up check", "interpreter", "imports", "adb server", "virtual device", "session", "tab", "page", "snapshot")
_LIMIT_S = 120.0


async def startup(bench: Bench) -> Sequence[Finding]:
    parts: dict[str, Samples] = {name: Samples() for name in PARTS}
    total = Samples()
    with serve_demo_pages() as site:
        for number in range(bench.choose(7, 2) + 1):
            marks = await asyncio.to_thread(_cold, site.port)
            if number:  # the first one reads everything from the disk
                for name in PARTS:
                    parts[name].values.append(marks[name])
                total.values.append(sum(marks.values()))
    medians = {name: one.median for name, one in parts.items()}
    note = ", ".join(f"{name} {ms:.0f}" for name, ms in medians.items() if ms >= 1)
    found = median_finding("cold start to the first snapshot", total, "ms", note=note)
    return [Finding(found.what, found.value, "ms", None, found.spread, note, {"parts_ms": medians})]


def _cold(port: int) -> dict[str, float]:
    """Milliseconds per part, with an adb server that is not running yet."""
    with own_adb_server():
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        began = time.time()
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / "cold_start.py"), str(began), str(port)],
            env=environ, capture_output=True, text=True, timeout=_LIMIT_S, check=False,
        )  # fmt: skip
    if done.returncode:
        raise Aborted(f"the cold start ended with {done.returncode}: {done.stderr[-300:]}")
    marks: dict[str, float] = json.loads(done.stdout)
    return {"set-up check": _set_up_ms(), **marks}


def _set_up_ms() -> float:
    """What `tools/run` does before it starts Python; 0 where it has never been used, as it would set up everything."""
    if not (ROOT / ".venv" / ".stamp-run").exists() and not (ROOT / ".venv" / ".stamp-test").exists():
        return 0.0
    script = '. "$1/tools/_setup.sh"; setup_python run; find_chromium'
    began = time.perf_counter()
    subprocess.run(["bash", "-c", script, "-", str(ROOT)], check=True, capture_output=True, timeout=_LIMIT_S)
    return (time.perf_counter() - began) * 1000
