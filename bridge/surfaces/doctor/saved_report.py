"""The doctor's report as a file for a bug report, without what is private: serials, names, folders, addresses."""

from __future__ import annotations

import contextlib
import getpass
import html
import json
import os
import platform
import re
import socket
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bridge
from bridge.errors import UsageError
from bridge.surfaces.doctor.report import Report

SUFFIXES = (".html", ".json")
_COLOURS = {"pass": "#2a7d2a", "warn": "#a06a00", "fail": "#b00020", "skipped": "#777"}
_STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
    "table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;padding:.4em;text-align:left;"
    "vertical-align:top}"
)
# Addresses of this machine's loopback say nothing about it.
_IPV4 = re.compile(r"\b(?!127\.)(?:\d{1,3}\.){3}\d{1,3}\b(?!\.\d)")
_URL = re.compile(r"\bhttps?://(?!127\.0\.0\.1[:/]|localhost[:/])[^\s\"'<>]+", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SHORTEST_NAME = 3


def check_report_path(path: Path) -> None:
    """Raises UsageError if a report cannot be written there."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path.name!r} must end with .html or .json")
    if not path.parent.is_dir():
        raise UsageError(f"{str(path.parent)!r} is not a folder")


def save_report(report: Report, path: Path, serials: Iterable[str]) -> None:
    """Write the report; the suffix decides between HTML and JSON. `serials` are replaced wherever they occur."""
    facts = public_facts(report, serials)
    text = _page(facts) if path.suffix.lower() == ".html" else json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def public_facts(report: Report, serials: Iterable[str]) -> dict[str, Any]:
    """The report as JSON, with private names replaced by `<serial>`, `<home>`, `<user>` and the like."""
    cleaned: dict[str, Any] = json.loads(
        json.dumps({"rows": [row.to_json() for row in report.rows]}), object_hook=lambda found: _cleaned(found, serials)
    )
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return {"webview_bridge": bridge.__version__, "system": system, "exit_code": report.exit_code, **cleaned}


def _cleaned(found: dict[str, Any], serials: Iterable[str]) -> dict[str, Any]:
    return {key: clean(value, serials) if isinstance(value, str) else value for key, value in found.items()}


def clean(text: str, serials: Iterable[str]) -> str:
    """`text` without serials, folders of this user, user and host names, mail addresses, URLs and IP addresses."""
    for name, replacement in _private_names(serials):
        # A name is replaced as a whole word, or "ada" would disappear from "adapter".
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", replacement, text)
    text = _URL.sub("<url>", text)
    text = _MAIL.sub("<mail>", text)
    return _IPV4.sub("<address>", text)


def _private_names(serials: Iterable[str]) -> list[tuple[str, str]]:
    """(name, replacement), the longest first: a folder contains the user's name."""
    names = dict.fromkeys(serials, "<serial>")
    names |= {str(Path.home()): "<home>", str(Path.cwd()): "<folder>", tempfile.gettempdir(): "<temp>"}
    names |= {os.environ[name]: "<home>" for name in ("HOME", "VIRTUAL_ENV") if os.environ.get(name)}
    names[socket.gethostname()] = "<host>"
    with contextlib.suppress(KeyError, OSError):  # a container without an entry for this user
        names[getpass.getuser()] = "<user>"
    useful = {name: text for name, text in names.items() if len(name) >= _SHORTEST_NAME and name != "localhost"}
    return sorted(useful.items(), key=lambda pair: -len(pair[0]))


def _page(facts: dict[str, Any]) -> str:
    rows = "".join(_row(row) for row in facts["rows"])
    head = f"webview-bridge {facts['webview_bridge']}, {facts['system']}"
    return (
        f"<!doctype html><meta charset=utf-8><title>Device report</title><style>{_STYLE}</style>"
        f"<h1>Device report</h1><p>{html.escape(head)}</p>"
        "<table><tr><th>Result<th>Check<th>What was seen<th>What it means<th>ms</tr>"
        f"{rows}</table>\n"
    )


def _row(row: dict[str, Any]) -> str:
    means = "; ".join(filter(None, (row.get("meaning"), row.get("fix"))))
    feature = f"<br><small>{html.escape(row['feature'])}</small>" if row.get("feature") else ""
    return (
        f"<tr><td style='color:{_COLOURS[row['status']]}'>{row['status']}<td>{html.escape(row['name'])}{feature}"
        f"<td>{html.escape(row['finding'])}<td>{html.escape(means)}<td>{row['ms']:.0f}</tr>"
    )
