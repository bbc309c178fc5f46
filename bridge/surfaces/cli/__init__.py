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
    try:
        from bridge.surfaces.cli.hand_over import hand_over

        _fill_closed_streams()
        code = hand_over(sys.argv[1:])
        if code is None:
            from bridge.surfaces.cli.app import run

            sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # before anybody waits for it, such as while modules are read
        code = _INTERRUPTED  # the fork, if there is one, ends with our connection
    os._exit(code)  # nothing is left to do here, and an interpreter takes its time to find that out


def _fill_closed_streams() -> None:
    """Nothing in place of what whoever started us has closed (`>&-`): a file that is opened would get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
