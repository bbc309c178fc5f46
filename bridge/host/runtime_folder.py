"""The user's folder for what lives as long as processes do: leases, sockets. Writable for nobody else."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from bridge.errors import UsageError


def runtime_folder() -> Path:
    """`$XDG_RUNTIME_DIR/webview-bridge`, or a folder of the user's own under the temporary one; made if need be.

    Raises:
        UsageError: It cannot be made, belongs to somebody else, or is open to others.
    """
    folder = _place()
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        usable = folder.is_dir() and not folder.is_symlink() and is_ours(folder)
        is_private = os.name == "nt" or not folder.lstat().st_mode & 0o077
    except OSError as error:
        raise UsageError(f"The runtime folder {folder} cannot be made: {error.strerror or error}.") from error
    if not usable:
        raise UsageError(f"{folder} is not a folder of this user; nothing is kept there.")
    if not is_private:
        raise UsageError(f"{folder} is open to other users; nothing is kept there.", hint=f"chmod 700 {folder}")
    return folder


def is_ours(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


def _place() -> Path:
    """Under `sudo` and in containers XDG_RUNTIME_DIR may be another user's, or not exist."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent")
    if runtime.is_dir() and is_ours(runtime):
        return runtime / "webview-bridge"
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"webview-bridge-{user}"
