"""`python -m bridge.surfaces.daemon NAME`: started by the command line, not by hand."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys

from bridge.errors import BridgeError
from bridge.host.filelock import try_lock
from bridge.surfaces.daemon.server import IDLE_EXIT_S, Daemon
from bridge.surfaces.daemon.session_files import files_of


def main() -> int:
    os.umask(0o077)
    try:
        files = files_of(sys.argv[1])
    except (BridgeError, IndexError) as error:
        print(f"failed {error}", flush=True)  # noqa: T201 - the starting command reads this line
        return 2
    with files.lock.open("a") as lock:
        if not try_lock(lock):
            print("taken", flush=True)  # noqa: T201
            return 0
        with contextlib.suppress(OSError):  # stderr is a terminal if it was started by hand
            os.ftruncate(sys.stderr.fileno(), 0)
        logging.basicConfig(
            level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr
        )
        idle_exit_s = float(os.environ.get("WEBVIEW_BRIDGE_IDLE_EXIT_S") or IDLE_EXIT_S)
        asyncio.run(Daemon(files, idle_exit_s=idle_exit_s).serve(_ready))
    return 0


def _ready() -> None:
    print("ready", flush=True)  # noqa: T201
    # The starting command reads no more: a full pipe must not block, and an open one must not keep it waiting.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
