"""Where a named session's process listens, and who it says it is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bridge.errors import UsageError
from bridge.host.runtime_folder import runtime_folder
from bridge.surfaces.cli.hand_over import SUFFIX

# `sun_path` of sockaddr_un, with its zero (unix(7)); macOS has 104.
_LONGEST_SOCKET = 103
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one named session, all in a folder that only its user may enter."""

    name: str
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.name}.sock"

    @property
    def zygote(self) -> Path:
        return self.folder / f"{self.name}{SUFFIX}"

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
    """What a session's process tells about itself: for `daemon status` and for ending one that does not answer."""

    name: str
    pid: int
    version: str
    started_s: float

    def write(self, places: Places) -> None:
        places.record.write_text(json.dumps(asdict(self)), encoding="utf-8")


def places_of(name: str) -> Places:
    """The places of the session `name`; its folder is made if need be.

    Raises:
        UsageError: Not a name, or the folder cannot be used.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name[:60]!r} cannot name a session.", hint="Use up to 40 letters, digits, _, - and dots, a letter first."
        )
    folder = runtime_folder() / "sessions"
    folder.mkdir(mode=0o700, exist_ok=True)
    places = Places(name, folder)
    if len(os.fsencode(places.socket)) > _LONGEST_SOCKET:
        raise UsageError(f"{places.socket} is too long for a socket.", hint="Set XDG_RUNTIME_DIR to a shorter folder.")
    return places


def recorded() -> tuple[Record, ...]:
    """The sessions that have left a record and whose process lives."""
    found = []
    for path in sorted((runtime_folder() / "sessions").glob("*.json")):
        record = read_record(path)
        if record is not None and _is_alive(record.pid):
            found.append(record)
    return tuple(found)


def is_kept(name: str) -> bool:
    """Whether the session `name` is open."""
    return any(record.name == name for record in recorded())


def read_record(path: Path) -> Record | None:
    try:
        facts: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(facts, Mapping):
            return None
        return Record(str(facts["name"]), int(facts["pid"]), str(facts["version"]), float(facts["started_s"]))
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
