"""What a person sees in a terminal that is narrow, and a program in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

SERIALS = ("192.168.178.123:41235", "R58M123ABCDE")
PROGRAM = (
    "from bridge.surfaces.cli.tables import print_table\n"
    f"print_table([{{'serial': s, 'url': 'https://shop.example/' + 80 * 'q'}} for s in {SERIALS!r}])\n"
)


def in_a_terminal(columns: int, **environment: str) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    for name in ("COLUMNS", "LINES"):
        variables.pop(name, None)
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=theirs, stdout=theirs, env=variables) as process:
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65536):
                printed += piece
        except OSError:  # the other end has closed
            pass
        assert process.wait(30) == 0
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def test_a_narrow_terminal_cuts_nothing_that_one_would_copy() -> None:
    printed = in_a_terminal(50, NO_COLOR="1")
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in printed.splitlines()) <= 50
    assert all(serial in printed for serial in SERIALS)
    assert printed.count("q") == 2 * 80
    assert "…" not in printed


def test_a_pipe_gets_whole_lines_and_no_codes() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=True)
    assert "\x1b" not in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["SERIAL", *SERIALS]
