"""Runs the parts of the suite that an engine decides on old engines, and writes the table of docs/engines.md.

    python -m tools.engine_table run --engine 91 [--part actions]…
    python -m tools.engine_table write

`run` keeps the JUnit report of each engine and part in the cache; `write` makes the table of all reports there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bridge.virtual_device.engine.old_engines import engines_folder

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "engines.md"
TODAY = "today"
PARTS = {
    "snapshots and refs": ("tests/page/snapshots", "tests/snapshot/test_script_*.py"),
    "actions": ("tests/page/input",),
    "navigation": ("tests/page/navigation", "tests/page/recovery", "tests/page/test_*.py"),
    "frames": ("tests/page/target",),
    "locators": ("tests/page/locators",),
    "screenshots": ("tests/page/capture",),
    "files, routes, logs": ("tests/page/files", "tests/page/interception", "tests/page/logs"),
    "reading": ("tests/reading",),
    "popups, dialogs": (
        "tests/session/test_popups*.py",
        "tests/session/test_side_effects.py",
        "tests/session/test_app_dialogs.py",
    ),
    "storage": ("tests/session/storage",),
    "attach": ("tests/session/attached",),
    "virtual device": ("tests/virtual_device/engine",),
}
_BEGIN, _END = "<!-- table: tools/engine_table.py -->\n", "<!-- end of table -->\n"


@dataclass
class PartResult:
    """The outcome of one part on one engine."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        rest = [f"{len(self.failed)} failed"] if self.failed else []
        rest += [f"{self.skipped.total()} skipped"] if self.skipped else []
        return ", ".join([str(self.passed), *rest])


def reports_folder() -> Path:
    return engines_folder().parent / "engine-table"


def run(engine: str, part: str) -> int:
    """Run one part on one engine and keep its report; the exit status of pytest."""
    folder = reports_folder() / engine
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", part)
    environment = {key: value for key, value in os.environ.items() if key != "BRIDGE_CHROMIUM"}
    if engine != TODAY:
        environment["BRIDGE_CHROMIUM"] = engine
    paths = [str(path.relative_to(ROOT)) for pattern in PARTS[part] for path in sorted(ROOT.glob(pattern))]
    command = [sys.executable, "-m", "pytest", "-v", "-n", "0", "-p", "no:cacheprovider", "-m", "browser and not slow"]
    with (folder / f"{name}.log").open("w") as log:
        command += [f"--junitxml={folder / name}.xml", "-o", f"junit_suite_name={part}", *paths]
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, check=False).returncode


def read_report(path: Path) -> tuple[str, PartResult]:
    """The part of a JUnit report and its outcome."""
    (suite,) = ElementTree.parse(path).iter("testsuite")  # noqa: S314 - the test run's own file
    result = PartResult()
    for case in suite.iter("testcase"):
        name = f"{case.get('classname', '').removeprefix('tests.')}::{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            result.failed.append(name)
        elif skipped is not None:
            result.skipped[skipped.get("message", "")] += 1
        else:
            result.passed += 1
    return suite.get("name", ""), result


def table(reports: dict[str, dict[str, PartResult]]) -> str:
    """The Markdown table, then each failed test and each reason of a skip."""
    engines = sorted((engine for engine in reports if engine != TODAY), key=int) + [TODAY] * (TODAY in reports)
    lines = [f"| | {' | '.join(engines)} |", f"|---|{'---|' * len(engines)}"]
    for part in PARTS:
        cells = (str(reports[engine].get(part, "not run")) for engine in engines)
        lines.append(f"| {part} | {' | '.join(cells)} |")
    failed = {
        f"`{name}`": [engine for engine in engines if any(name in it.failed for it in reports[engine].values())]
        for name in sorted({name for parts in reports.values() for it in parts.values() for name in it.failed})
    }
    skips = {
        reason: [engine for engine in engines if any(reason in it.skipped for it in reports[engine].values())]
        for reason in sorted({reason for parts in reports.values() for it in parts.values() for reason in it.skipped})
    }
    for title, rows in (("Failed", failed), ("Skipped", skips)):
        if rows:
            lines += ["", f"{title}:", "", *(f"* {what} ({', '.join(where)})" for what, where in rows.items())]
    return "\n".join(lines) + "\n"


def write() -> None:
    """Replace the table in the document."""
    reports: dict[str, dict[str, PartResult]] = {}
    for path in sorted(reports_folder().glob("*/*.xml")):
        part, result = read_report(path)
        reports.setdefault(path.parent.name, {})[part] = result
    before, _, rest = DOCUMENT.read_text().partition(_BEGIN)
    DOCUMENT.write_text(before + _BEGIN + "\n" + table(reports) + "\n" + _END + rest.partition(_END)[2])


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/engine-table", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True, dest="command")
    running = commands.add_parser("run", help="run parts of the suite on engines")
    running.add_argument("--engine", action="append", required=True, help=f"a version of tools/engines, or {TODAY}")
    running.add_argument("--part", action="append", choices=PARTS, help="default: all")
    commands.add_parser("write", help="write the table")
    arguments = parser.parse_args()
    if arguments.command == "write":
        write()
        return 0
    status = 0
    for engine in arguments.engine:
        for part in arguments.part or PARTS:
            print(f"engine-table: {part} on {engine}", file=sys.stderr)
            status = run(engine, part) or status
    return status


if __name__ == "__main__":
    sys.exit(main())
