"""One device for one piece of work, among all that this user's processes do at once.

A lease is a file that is locked as long as the work lasts; the system takes the lock back however its holder ends. The
host app's own lease (bridge.host.lease) refuses a second session; this one lets the second wait its turn instead.
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
    """The first of these devices that is free, waited for; nobody else has it while the block lasts.

    Raises:
        DeadlineExceeded: None became free.
        UsageError: The folder of leases cannot be used.
    """
    deadline = Deadline.after(timeout_s)
    with ExitStack() as held:
        while True:
            for name in names:
                if take_turn(name, held):
                    yield name
                    return
            if deadline.passed:
                raise deadline.exceeded("a free device", f"others work on {', '.join(names)}")
            await asyncio.sleep(_LOOK_S)


def take_turn(name: str, held: ExitStack | AsyncExitStack) -> bool:
    """Take this device until the stack ends; False, at once, while somebody else has it.

    Raises:
        UsageError: The folder of leases cannot be used.
    """
    path = _path(name)
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The lease {path} cannot be opened: {error.strerror or error}.") from error
    if not try_lock(file):
        file.close()
        return False
    held.enter_context(file)  # closing it gives the lock back; the file stays, so that nobody locks a removed one
    return True


def _path(name: str) -> Path:
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:60]
    return runtime_folder() / f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:12]}.turn"
