"""The command line: `webview-bridge`, short `wvb`.

Modules of this folder import at their top only what `--help` needs; the bridge itself is imported inside the commands.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The console script: run the command line of this process and end it with the exit code."""
    from bridge.surfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))
