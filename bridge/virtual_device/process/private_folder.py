"""The private folder of a device: where it is created and how it is recognised."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

PREFIX = "webview-device-"
_NAME = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_-]{4,100}")
_REMOVE_FOR_S = 5.0
# `sun_path` of sockaddr_un without its zero: 107 bytes on Linux (unix(7)), 103 on macOS. Chromium needs the longest
# path and exits if it does not fit (chrome/browser/process_singleton_posix.cc, "Socket path too long").
_SOCKET_BYTES = 107 if sys.platform == "linux" else 103
_LONGEST_INSIDE = f"/{PREFIX}12345678/chromium/org.chromium.Chromium.123456/SingletonSocket"
_SHORT_PLACE = Path("/tmp")  # noqa: S108 - a folder is made in it by mkdtemp


def folders_place() -> Path:
    """The parent of private folders: the temporary folder, or /tmp if socket paths would get too long."""
    usual = Path(tempfile.gettempdir()).resolve()
    fits = len(os.fsencode(usual)) + len(_LONGEST_INSIDE) <= _SOCKET_BYTES
    if fits or sys.platform == "win32" or not os.access(_SHORT_PLACE, os.W_OK | os.X_OK):
        return usual
    return _SHORT_PLACE.resolve()


def make_private_folder() -> Path:
    """Creates a private folder with mode 0700 and a name that the reaper accepts."""
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=folders_place()))


def is_our_folder(path: Path) -> bool:
    """True if it is a real directory of this user with a device's name, directly in the parent of private folders."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return (
        path.is_absolute()
        and bool(_NAME.fullmatch(path.name))
        and path.parent == folders_place()
        and stat.S_ISDIR(found.st_mode)
        and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
    )


def remove_folder(folder: Path) -> None:
    """Removes the folder, with retries: processes that were just killed may still be writing."""
    end = time.monotonic() + _REMOVE_FOR_S
    while is_our_folder(folder):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > end:
            return
        time.sleep(0.05)
