"""What a run found: as a table for people, as JSON for the record, and as a section of the README."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import bridge
from bridge.virtual_device import find_chromium
from tools.benchmarks.measuring import Finding
from tools.benchmarks.peers import FROM_NPM, FROM_PYPI, ROOT

_STATES = {"met": "met", "missed": "MISSED", "not measured": "NOT MEASURED", "reported": ""}


@dataclass(frozen=True)
class Measured:
    """A row that ran."""

    row: str
    findings: Sequence[Finding]
    took_s: float
    load: float


def surroundings(*, quick: bool) -> dict[str, Any]:
    """Machine, versions and date: without them a number says nothing."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "quick": quick,
        "machine": {
            "cpu": _cpu_model(),
            "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "system": _system(),
        },
        "versions": {
            "webview-bridge": bridge.__version__,
            "commit": _words("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"),
            "Chromium": _words(str(find_chromium(os.environ)), "--version").removeprefix("Chromium ").split(" ")[0],
            "Python": platform.python_version(),
            "websockets": _package("websockets"),
            "lxml": _package("lxml"),
            **FROM_NPM,
            **FROM_PYPI,
        },
    }


def document(about: Mapping[str, Any], rows: Iterable[Measured]) -> dict[str, Any]:
    """Everything, for the record."""
    return {
        **about,
        "rows": [
            {
                "row": one.row,
                "took_s": round(one.took_s, 1),
                "load": round(one.load, 2),
                "findings": [_finding(finding) for finding in one.findings],
            }
            for one in rows
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "what": finding.what,
        "value": None if finding.state == "not measured" else finding.value,
        "unit": finding.unit,
        "bar": f"{finding.bar.sign} {finding.bar.limit:g}" if finding.bar else None,
        "state": finding.state,
        "spread": finding.spread,
        "note": finding.note,
        "facts": _without_nan(dict(finding.facts)),
    }


def _without_nan(value: Any) -> Any:
    """JSON has no NaN; an aborted run is null."""
    match value:
        case float():
            return None if math.isnan(value) else value
        case dict():
            return {str(key): _without_nan(one) for key, one in value.items()}
        case list() | tuple():
            return [_without_nan(one) for one in value]
    return value


def summary(whole: Mapping[str, Any]) -> dict[str, Any]:
    """What is committed and what the README is made of: no samples, and only the facts that plots are drawn from."""
    kept = ("parts_ms", "nodes_ms")
    return {
        **{key: value for key, value in whole.items() if key != "rows"},
        "rows": [
            {
                **row,
                "findings": [
                    {
                        **one,
                        "value": _rounded(one["value"]),
                        "spread": _rounded(one["spread"]),
                        "facts": {key: _rounded(fact) for key, fact in one["facts"].items() if key in kept},
                    }
                    for one in row["findings"]
                ],
            }
            for row in whole["rows"]
        ],
    }


def _rounded(value: Any) -> Any:
    """Numbers to four digits: more would say more than was measured."""
    match value:
        case float():
            return float(f"{value:.4g}")
        case dict():
            return {key: _rounded(one) for key, one in value.items()}
        case list() | tuple():
            return [_rounded(one) for one in value]
    return value


def shown(value: float | None, unit: str) -> str:
    """A number as people read it: three digits, its unit behind it."""
    if value is None:
        return "–"
    digits = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
    return f"{digits} {unit}".strip()


def table_line(one: Mapping[str, Any]) -> str:
    spread = f"±{one['spread']:.0%}" if one["spread"] is not None else ""
    bar = f"{one['bar']}" if one["bar"] else ""
    state = _STATES[one["state"]]
    return (
        f"  {one['what'][:84]:85}{shown(one['value'], one['unit']):>16} {spread:>6} {bar:>9}  {state:13}{one['note']}"
    )


def verdict(whole: Mapping[str, Any]) -> tuple[str, bool]:
    """How many bars are met, and whether all of them are."""
    findings = [one for row in whole["rows"] for one in row["findings"]]
    counts = {state: sum(one["state"] == state for one in findings) for state in _STATES}
    barred = [one for one in findings if one["bar"]]
    text = f"{counts['met']} of {len(barred)} bars are met, {counts['missed']} missed"
    if counts["not measured"]:
        text += f"; {counts['not measured']} lines not measured"
    return text, counts["met"] == len(barred) and not counts["not measured"]


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _words(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _system() -> str:
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release().split('-')[0]}"
    except OSError:
        return platform.platform()
