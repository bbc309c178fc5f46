"""Commands whose standard streams are closed, or take nothing any more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM

LIMIT_S = 60
COMMANDS = ("--help", "schema --format mcp", "policy check https://shop.example/", "daemon status")


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of a shell, where `wvb` is the command line."""
    return subprocess.run(
        ["/bin/sh", "-c", f'wvb() {{ "$@"; }}; {line}'.replace('"$@"', f'{sys.executable} -c "{PROGRAM[2]}" "$@"')],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": str(Path.cwd())},
    )


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run")
    made.chmod(0o700)
    return made


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_is_carried_out_without_a_stream(command: str, stream: str, folder: Path) -> None:
    done = in_shell(f"wvb {command} {stream}", folder)

    assert done.returncode == 0, done.stderr
    assert "unexpected" not in done.stderr
    assert bool(done.stdout) == (">&-" not in stream.split() and "status" not in command)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize("command", [*COMMANDS[:3], "schema --format mcp --json"])
def test_a_full_disk_behind_stdout_is_one_line_and_no_success(command: str, folder: Path) -> None:
    done = in_shell(f"wvb {command} >/dev/full", folder)

    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_an_error_that_cannot_go_to_a_closed_stdout_goes_to_stderr(folder: Path) -> None:
    done = in_shell("wvb trace export nothing --json >/dev/full", folder)

    assert (done.returncode, done.stderr) == (2, "bad_usage: cannot read nothing: No such file or directory.\n")
