"""The zygote of a session's commands: started and ended with the session's process, missed by nobody where it fails."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridge.surfaces.daemon.places import Places

logger = logging.getLogger(__name__)

_END_S = 2.0


@asynccontextmanager
async def zygote_of(places: Places) -> AsyncIterator[None]:
    """Commands find the zygote at `places.zygote` as soon as it is warm; see `cli/hand_over.py`."""
    if sys.platform != "linux":
        yield
        return
    process = None
    places.zygote.unlink(missing_ok=True)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            # The zygote itself listens, when it is warm: until then, and when it has died, a connection is refused.
            listener.bind(str(places.zygote))
            places.zygote.chmod(0o600)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "bridge.surfaces.cli.zygote", str(listener.fileno())),
                stdin=asyncio.subprocess.PIPE,  # its end is the zygote's, however this process ends
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=[listener.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # noqa: PTH109
            )
    except OSError as error:
        logger.warning("commands go without a zygote: %s", error)
    try:
        yield
    finally:
        places.zygote.unlink(missing_ok=True)
        if process is not None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
