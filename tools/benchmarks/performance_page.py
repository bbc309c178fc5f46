"""The table and plots of docs/performance.md, generated from the committed results and checked against them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from tools.benchmarks.peers import ROOT
from tools.benchmarks.plots import plots
from tools.benchmarks.report import shown, summary, verdict, write_json

PAGE = ROOT / "docs" / "performance.md"
IMAGES = ROOT / ".github" / "images"
COMMITTED = ROOT / "tools" / "benchmarks" / "results" / "latest.json"
BEGIN, END = "<!-- tools/bench --publish: begin -->", "<!-- tools/bench --publish: end -->"
_STATES = {"met": "met", "missed": "**missed**", "not measured": "not measured", "reported": ""}


def section(results: Mapping[str, Any]) -> str:
    """Renders the section, markers included."""
    machine, versions = results["machine"], results["versions"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
    on = ", ".join(
        f"{name} {versions[name]}"
        for name in ("Chromium", "Python", "agent-browser", "playwright-core", "trafilatura", "markdownify")
    )
    loads = [row["load"] for row in results["rows"]]
    lines = [
        BEGIN,
        f"Measured on {results['date']} with `tools/bench{' --quick' if results['quick'] else ''}`, commit "
        f"{versions['commit']}, on the virtual device: {where}; load {min(loads):.1f} to {max(loads):.1f}; {on}. "
        f"{verdict(results)[0].capitalize()}. Peers take turns with ours on the same browser and pages; values are "
        "medians, ± is half the distance between the quartiles. Ratios travel better to other machines than times do.",
        "",
        "| what | measured | ± | bar | |",
        "|---|---|---|---|---|",
        *(_row(one) for row in results["rows"] for one in row["findings"]),
        "",
        *(f"![{title}](../.github/images/{name})" for name, (title, _) in plots(results).items()),
        END,
    ]
    return "\n".join(lines)


def _row(one: Mapping[str, Any]) -> str:
    spread = f"{one['spread']:.0%}" if one["spread"] is not None else ""
    said = _STATES[one["state"]]
    if one["state"] in ("missed", "not measured") and one["note"]:
        said = f"{said}: {one['note']}".replace("|", "\\|").replace("\n", " ")
    return f"| {one['what']} | {shown(one['value'], one['unit'])} | {spread} | {one['bar'] or ''} | {said} |"


def replaced(text: str, new: str) -> str:
    """Replaces the section between its markers.

    Raises:
        ValueError: A marker is missing, repeated or out of order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{PAGE.name} needs the lines {BEGIN!r} and {END!r}, once each and in order")
    before, _, rest = text.partition(BEGIN)
    return before + new + rest.partition(END)[2]


def write(whole: Mapping[str, Any]) -> int:
    """Writes a run's summary: results, section and plots."""
    results = summary(whole)
    try:
        text = replaced(PAGE.read_text(encoding="utf-8"), section(results))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    write_json(COMMITTED, results)
    PAGE.write_text(text, encoding="utf-8")
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, (_, svg) in plots(results).items():
        (IMAGES / name).write_text(svg, encoding="utf-8")
    print(f"{COMMITTED.relative_to(ROOT)}, docs/performance.md and {', '.join(plots(results))} written")
    return 0


def differences() -> list[str]:
    """Lists what does not match the committed results."""
    text = PAGE.read_text(encoding="utf-8")
    if not COMMITTED.is_file():
        return [] if f"{BEGIN}\n{END}" in text else ["docs/performance.md has numbers, but there are no results"]
    results = json.loads(COMMITTED.read_text(encoding="utf-8"))
    found = []
    try:
        if replaced(text, section(results)) != text:
            found.append("docs/performance.md does not match the committed results")
    except ValueError as error:
        found.append(str(error))
    for name, (_, svg) in plots(results).items():
        path = IMAGES / name
        if not path.is_file() or path.read_text(encoding="utf-8") != svg:
            found.append(f"{name} does not match the committed results")
    return found


def check() -> int:
    found = differences()
    print("\n".join(found) or "docs/performance.md matches the committed results")
    return 1 if found else 0
