"""The user's folder for leases and sockets, writable by this user only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from bridge.errors import UsageError
from bridge.runtime_place import runtime_place


def runtime_folder() -> Path:
    """`$XDG_RUNTIME_DIR/webview-bridge`, or a folder of this user in the temporary folder; created if missing.

    Raises:
        UsageError: It cannot be created, belongs to another user, or is open to others.
    """
    folder = Path(runtime_place())
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        usable = folder.is_dir() and not folder.is_symlink() and is_ours(folder)
        is_private = os.name == "nt" or not folder.lstat().st_mode & 0o077
    except OSError as error:
        raise UsageError(f"The runtime folder {folder} cannot be created: {error.strerror or error}.") from error
    if not usable:
        raise UsageError(f"{folder} is not a folder of this user, so it is not used.")
    if not is_private:
        raise UsageError(f"{folder} is open to other users, so it is not used.", hint=f"chmod 700 {folder}")
    return folder


def is_ours(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
