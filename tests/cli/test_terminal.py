"""What a person sees in a terminal that is narrow, and a program in a pipe."""

from __future__ import annotations

import os
import subprocess
import sys

from terminals import printed_in_a_terminal, without_codes

SERIALS = ("192.168.178.123:41235", "R58M123ABCDE")
PROGRAM = (
    "from bridge.surfaces.cli.tables import print_table\n"
    f"print_table([{{'serial': s, 'url': 'https://shop.example/' + 80 * 'q'}} for s in {SERIALS!r}])\n"
)


def test_a_narrow_terminal_cuts_nothing_that_one_would_copy() -> None:
    printed = printed_in_a_terminal([sys.executable, "-c", PROGRAM], 50, {**os.environ, "NO_COLOR": "1"})
    assert max(map(len, without_codes(printed).splitlines())) <= 50
    assert all(serial in printed for serial in SERIALS)
    assert printed.count("q") == 2 * 80
    assert "…" not in printed


def test_a_pipe_gets_whole_lines_and_no_codes() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=True)
    assert "\x1b" not in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["SERIAL", *SERIALS]
