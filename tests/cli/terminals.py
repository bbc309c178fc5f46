"""A terminal of so many columns, and what a command has printed on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence

LIMIT_S = 60
_CODE = re.compile(r"\x1b\[[0-9;]*m")


def printed_in_a_terminal(command: Sequence[str], columns: int, environment: Mapping[str, str]) -> str:
    """All that it prints until it ends, which is without an error."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {**environment, "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES"):
        variables.pop(name, None)
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, env=variables) as process:
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65536):
                printed += piece
        except OSError:  # the other end has closed
            pass
        assert process.wait(LIMIT_S) == 0
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def without_codes(text: str) -> str:
    return _CODE.sub("", text)
