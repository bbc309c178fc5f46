"""Leases of devices between the processes of a user.

A lease is a locked file; the system releases the lock however its holder exits. The host app's own lease
(bridge.host.lease) refuses a second session; with this one the second waits.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.host.filelock import try_lock
from bridge.host.runtime_folder import runtime_folder

_LOOK_S = 0.1


@asynccontextmanager
async def leased(names: Sequence[str], *, timeout_s: float) -> AsyncIterator[str]:
    """Wait for the first free device of these and lease it while the block runs.

    Raises:
        DeadlineExceeded: No device became free.
        UsageError: The folder of leases cannot be used.
    """
    deadline = Deadline.after(timeout_s)
    with ExitStack() as held:
        while True:
            for name in names:
                if try_lease(name, held):
                    yield name
                    return
            if deadline.passed:
                raise deadline.exceeded("a free device", f"in use: {', '.join(names)}")
            await asyncio.sleep(_LOOK_S)


def try_lease(name: str, held: ExitStack | AsyncExitStack) -> bool:
    """Lease the device until the stack ends; False at once if another process has it.

    Raises:
        UsageError: The folder of leases cannot be used.
    """
    path = _path(name)
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot open the lease {path}: {error.strerror or error}.") from error
    if not try_lock(file):
        file.close()
        return False
    held.enter_context(file)  # closing releases the lock; the file stays, so that no process locks a removed one
    return True


def _path(name: str) -> Path:
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:60]
    return runtime_folder() / f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:12]}.turn"
