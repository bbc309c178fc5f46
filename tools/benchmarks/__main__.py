"""`tools/bench`: measure, print and save; or publish saved results in docs/performance.md."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tools.benchmarks import performance_page, report
from tools.benchmarks.bench import Bench, Row, own_adb_server
from tools.benchmarks.measuring import Aborted, Finding, NotMeasured
from tools.benchmarks.peers import HOME, PeerMissing, node_modules, python_with_peers
from tools.benchmarks.rows import ROWS

LATEST = HOME / "latest.json"
#: A row that takes longer has met something that hangs.
ROW_LIMIT_S = 900.0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.list:
        print("\n".join(row.name for row in ROWS))
        return 0
    if options.check_published:
        return performance_page.check()
    if options.publish:
        return performance_page.write(json.loads(options.publish.read_text(encoding="utf-8")))
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    whole = asyncio.run(_measure(rows, Bench(options.quick), options.quick))
    report.write_json(options.out, whole)
    text, is_met = report.verdict(whole)
    print(f"\n{text}; written to {options.out}")
    return 0 if is_met else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/bench", description="Measure this project beside its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and pages: under five minutes")
    parser.add_argument(
        "--only", action="append", choices=[row.name for row in ROWS], metavar="ROW", help="only this row; repeatable"
    )
    parser.add_argument("--list", action="store_true", help="print the rows' names")
    parser.add_argument("--out", type=Path, default=LATEST, metavar="FILE", help=f"the JSON (default: {LATEST})")
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="FILE",
        help="no run: publish this JSON in docs/performance.md",
    )
    parser.add_argument("--check-published", action="store_true", help="no run: check docs/performance.md")
    return parser


async def _measure(rows: Sequence[Row], bench: Bench, quick: bool) -> dict[str, object]:
    # Notices about the policy and about what was restored are for people who drive a page.
    logging.getLogger("bridge").setLevel(logging.ERROR)
    measured: list[report.Measured] = []
    with own_adb_server(), tempfile.TemporaryDirectory(prefix="wvb-bench-") as runtime:
        os.environ["XDG_RUNTIME_DIR"] = runtime
        # What is installed has its bytecode, which pip writes: no command is measured that compiles itself first.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        about = report.surroundings(quick=quick)
        print(f"{about['machine']}\n{about['versions']}", flush=True)
        _set_up_peers()
        for row in rows:
            print(f"\n{row.name}", flush=True)
            began, load = time.perf_counter(), os.getloadavg()[0]
            findings = await run_row(row, bench)
            measured.append(report.Measured(row.name, findings, time.perf_counter() - began, load))
            for one in report.document({}, measured[-1:])["rows"][0]["findings"]:
                print(report.table_line(one), flush=True)
            print(f"  {measured[-1].took_s:.0f} s, load {load:.1f}", flush=True)
    return report.document(about, measured)


def _set_up_peers() -> None:
    """Before anything is measured; the lines of a peer that is missing say so."""
    for install in (node_modules, python_with_peers):
        try:
            install()
        except PeerMissing as error:
            print(error, file=sys.stderr, flush=True)


async def run_row(row: Row, bench: Bench) -> Sequence[Finding]:
    """A row's findings; one that fails becomes a line that says so, and the others go on."""
    try:
        async with asyncio.timeout(ROW_LIMIT_S):
            return await row.run(bench)
    except TimeoutError as error:
        return [Finding(row.name, None, "", note=f"it was stopped after {ROW_LIMIT_S:g} s {error}".rstrip())]
    except (NotMeasured, Aborted) as error:
        return [Finding(row.name, None, "", note=str(error))]
    except Exception as error:
        traceback.print_exc()
        return [Finding(row.name, None, "", note=f"{type(error).__name__}: {error}")]


if __name__ == "__main__":
    sys.exit(main())
