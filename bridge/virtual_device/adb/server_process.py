"""The environment of the adb server's process, which says where its keys are."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from bridge.peer_user import own_user

_LISTENING = "0A"


def server_environment(port: int) -> dict[str, str]:
    """The environment of this user's process that listens on a port of this machine; empty if there is none.

    A server that was started with another HOME has other keys, and is this user's all the same. The environment of
    another user's process is not read, and Linux alone shows it.
    """
    if sys.platform != "linux":
        return {}
    inodes = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for folder in Path("/proc").glob("[0-9]*") if inodes else ():
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == own_user() and _has_socket(folder, inodes):
                variables = (folder / "environ").read_bytes().split(b"\0")
                return dict(os.fsdecode(one).split("=", 1) for one in variables if b"=" in one)
    return {}


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                is_there = fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port
                if is_there and int(fields[7]) == own_user():
                    found.add(fields[9])
    return found


def _has_socket(folder: Path, names: set[str]) -> bool:
    for descriptor in (folder / "fd").iterdir():
        with contextlib.suppress(OSError):
            if str(descriptor.readlink()) in names:
                return True
    return False
