"""A lock on an open file; the system releases it when its holder dies."""

from __future__ import annotations

import os
import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    # On Windows a locked byte cannot be read either, so the byte is far behind the text.
    _FAR = 1 << 30

    def try_lock(file: IO[str]) -> bool:
        """Locks the file; False if another process has locked it."""
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(file: IO[str]) -> None:
        """Releases the lock."""
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(file: IO[str]) -> bool:
        """Locks the file; False if another process has locked it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(file: IO[str]) -> None:
        """Releases the lock."""
        fcntl.flock(file, fcntl.LOCK_UN)
