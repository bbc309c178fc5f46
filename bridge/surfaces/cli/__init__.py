"""The command line: `webview-bridge`, short `wvb`.

Modules of this folder import at their top only what `--help` needs; the bridge itself is imported inside the commands.
What stands here and in `hand_over.py` is imported by every command, and imports next to nothing.
"""

from __future__ import annotations

import os
import sys

_INTERRUPTED = 130


def main() -> None:
    """The console script: run the command line, here or in a fork of its session's zygote, and end with the code."""
    from bridge.surfaces.cli.hand_over import hand_over

    try:
        code = hand_over(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED  # the fork, if there is one, ends with our connection
    if code is not None:
        os._exit(code)  # nothing is left to do here, and an interpreter takes its time to find that out

    from bridge.surfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))
