"""The command line: `webview-bridge`, short `wvb`.

Modules of this package import at their top only what `--help` needs; commands import the bridge when they run.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The console script: run the command line and exit with its code."""
    _fill_closed_streams()
    try:
        from bridge.surfaces.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are imported
        code = 130
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Open the null device in place of closed standard streams (`>&-`): the next opened file would get their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
