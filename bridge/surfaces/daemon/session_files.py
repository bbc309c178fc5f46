"""The files of a named session: its socket, lock, log and record."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bridge.errors import UsageError
from bridge.host.runtime_folder import runtime_folder

# `sun_path` of sockaddr_un, with its zero (unix(7)); macOS has 104.
_LONGEST_SOCKET = 103
Kind = Literal["session", "mcp"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The files of one session, in a folder that only its user may enter."""

    name: str
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.name}.sock"

    @property
    def lock(self) -> Path:
        return self.folder / f"{self.name}.lock"

    @property
    def record(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"


@dataclass(frozen=True, slots=True)
class Record:
    """The record that a session's process writes, for `daemon status` and to end one that does not respond.

    Attributes:
        kind: "mcp" for the tabs of an MCP server, which ends with its client.
    """

    name: str
    pid: int
    version: str
    started_s: float
    kind: Kind = "session"

    def write(self, files: SessionFiles) -> None:
        files.record.write_text(json.dumps(asdict(self)), encoding="utf-8")


def files_of(name: str) -> SessionFiles:
    """The files of the session `name`; creates their folder.

    Raises:
        UsageError: Not a name, or the folder cannot be used.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} is not a valid session name.",
            hint="Use up to 40 letters, digits, _, - and dots, a letter first.",
        )
    folder = runtime_folder() / "sessions"
    folder.mkdir(mode=0o700, exist_ok=True)
    files = SessionFiles(name, folder)
    if len(os.fsencode(files.socket)) > _LONGEST_SOCKET:
        raise UsageError(f"{files.socket} is too long for a socket.", hint="Set XDG_RUNTIME_DIR to a shorter folder.")
    return files


def recorded() -> tuple[Record, ...]:
    """The recorded sessions whose process runs."""
    found = []
    for path in sorted((runtime_folder() / "sessions").glob("*.json")):
        record = read_record(path)
        if record is not None and _is_alive(record.pid):
            found.append(record)
    return tuple(found)


def is_kept(name: str) -> bool:
    """True if the session `name` is open."""
    return any(record.name == name for record in recorded())


def read_record(path: Path) -> Record | None:
    try:
        facts: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(facts, Mapping):
            return None
        return Record(
            str(facts["name"]),
            int(facts["pid"]),
            str(facts["version"]),
            float(facts["started_s"]),
            "mcp" if facts.get("kind") == "mcp" else "session",
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
