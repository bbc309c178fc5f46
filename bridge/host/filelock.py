"""A lock on an open file that the system takes back when its holder dies."""

from __future__ import annotations

import os
import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    # Windows keeps others from *reading* a locked byte, so the byte lies far behind the text.
    _FAR = 1 << 30

    def try_lock(file: IO[str]) -> bool:
        """Lock the file; False when somebody else has it."""
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(file: IO[str]) -> None:
        """Let go of a lock that try_lock took."""
        os.lseek(file.fileno(), _FAR, os.SEEK_SET)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(file: IO[str]) -> bool:
        """Lock the file; False when somebody else has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(file: IO[str]) -> None:
        """Let go of a lock that try_lock took."""
        fcntl.flock(file, fcntl.LOCK_UN)
