"""Processes of this machine and their descendants, as /proc shows them."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process, which its start tells from a later one with the same number."""

    pid: int
    started: int


def family(roots: set[int]) -> set[Process]:
    """The running ones of these processes and all their descendants; without zombies."""
    facts = {int(folder.name): _facts(folder) for folder in Path("/proc").glob("[0-9]*")}
    found = set(roots)
    while grown := {pid for pid, (_, parent, _) in facts.items() if parent in found} - found:
        found |= grown
    return {Process(pid, facts[pid][2]) for pid in found if pid in facts and facts[pid][0] not in ("", "Z", "X")}


def is_running(pid: int) -> bool:
    if sys.platform == "linux":
        return _facts(Path(f"/proc/{pid}"))[0] not in ("", "Z", "X")
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def _facts(folder: Path) -> tuple[str, int, int]:
    """The state, the parent and the start of a process (proc(5), "stat"); ("", 0, 0) if there is none."""
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "", 0, 0
    return fields[0], int(fields[1]), int(fields[19])
