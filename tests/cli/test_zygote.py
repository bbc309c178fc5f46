"""A command that a fork of its session's zygote carries out is the one that was started: folder, streams, end."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from terminals import printed_in_a_terminal, without_codes

from tests.cli.conftest import LIMIT_S, PROGRAM, Shell

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="commands are handed over on Linux only"),
]
IN_THIS_PROCESS = "import sys; from bridge.surfaces.cli.app import run; sys.exit(run(sys.argv[1:]))"
IMPORTED = (PROGRAM[0], "-X", "importtime", *PROGRAM[1:])


@pytest.fixture
def warm(shell: Shell) -> Shell:
    """A session whose zygote takes commands."""
    shell.open()
    until_warm(shell)
    return shell


def until_warm(shell: Shell) -> None:
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(shell.sessions / "default.zygote"))
            except (FileNotFoundError, ConnectionRefusedError):
                time.sleep(0.05)
                continue
            if probe.recv(1):
                return
    pytest.fail("the zygote does not get warm")


def ended(shell: Shell, *arguments: str, program: tuple[str, ...] = IMPORTED, **more: Any) -> tuple[int, str, str]:
    """The exit code, what it printed, what it imported and said."""
    environment = {**shell.environment, **more.pop("env", {})}
    done = subprocess.run(
        [*program, *arguments],
        env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False, **more,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def zygotes(shell: Shell) -> list[int]:
    """The zygote and its forks, oldest first: whose working environment names the shell's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words, variables = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if b"bridge.surfaces.cli.zygote" in words and os.fsencode(f"XDG_RUNTIME_DIR={shell.folder}\0") in variables:
            found.append(int(entry.name))
    return sorted(found)


@pytest.fixture
def awake(warm: Shell) -> Iterator[list[int]]:
    """The processes of the zygote; those that a test has stopped go on after it."""
    stopped = zygotes(warm)
    yield stopped
    for pid in stopped:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue


def test_a_warm_command_imports_nothing_that_takes_time(warm: Shell) -> None:
    code, out, err = ended(warm, "snapshot", "--json")
    assert code == 0, err
    assert json.loads(out)["command"] == "snapshot"
    modules = {line.rpartition("|")[2].strip() for line in err.splitlines() if line.startswith("import time:")}
    assert "bridge.surfaces.cli.hand_over" in modules
    assert not modules & {"click", "asyncio", "json", "socket", "typing", "re", "pathlib", "bridge.errors"}


def test_exit_codes_errors_and_json_keys_are_those_of_the_command(warm: Shell) -> None:
    cold = {**os.environ, "XDG_RUNTIME_DIR": str(warm.folder)}
    for line in ("snapshot -h", "click e999", "click e999 --json", "scroll sideways", "tab t9"):
        arguments = line.split()
        handed = ended(warm, *arguments, program=PROGRAM)
        itself = subprocess.run(
            [sys.executable, "-c", IN_THIS_PROCESS, *arguments],
            env=cold, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert handed == (itself.returncode, itself.stdout, itself.stderr)


def test_files_lie_in_the_folder_of_the_command_with_its_umask(warm: Shell, tmp_path: Path) -> None:
    code, out, err = ended(warm, "snapshot", "--out", "shop.txt", cwd=tmp_path, umask=0o027, program=PROGRAM)
    assert (code, out) == (0, "saved shop.txt\n"), err
    assert "Aurum" in (tmp_path / "shop.txt").read_text()
    assert stat.S_IMODE((tmp_path / "shop.txt").stat().st_mode) == 0o640


def test_verbose_logs_to_the_stderr_of_the_command(warm: Shell) -> None:
    code, _, err = ended(warm, "tabs", "--verbose", program=PROGRAM)
    assert code == 0
    assert "DEBUG asyncio: Using selector" in err
    assert "DEBUG" not in ended(warm, "tabs", program=PROGRAM)[2]


def test_variables_are_those_of_the_command(warm: Shell) -> None:
    code, _, err = ended(warm, "tabs", program=PROGRAM, env={"WEBVIEW_BRIDGE_SESSION": "other"})
    assert code == 2
    assert "no session 'other' is open" in err


def test_another_descriptor_is_written_by_the_process_that_has_it(warm: Shell) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as pipe:
        try:
            target = f"/dev/fd/{writing}"
            code, _, err = ended(warm, "snapshot", "--out", target, pass_fds=[writing], program=PROGRAM)
        finally:
            os.close(writing)
        assert code == 0, err
        assert "Aurum" in pipe.read()


def test_ctrl_c_ends_the_command_and_what_it_waits_for(warm: Shell) -> None:
    waiting = warm.start("wait", "--text", "never there")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=3.0)
    waiting.send_signal(signal.SIGINT)
    assert waiting.communicate(timeout=LIMIT_S) == ("", "\ninterrupted\n")
    assert waiting.returncode == 130
    assert "Aurum" in warm.json("snapshot")["title"]


def test_a_killed_command_leaves_no_fork_behind(warm: Shell) -> None:
    waiting = warm.start("wait", "--text", "never there")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    waiting.kill()
    # The fork has our end of the pipe too: it is closed when that has ended.
    waiting.communicate(timeout=LIMIT_S)
    assert "Aurum" in warm.json("snapshot", "--timeout", "10")["title"]


def test_a_reader_that_goes_away_is_no_error_of_a_fork_either(warm: Shell) -> None:
    with subprocess.Popen([*PROGRAM, "snapshot"], env=warm.environment, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert process.returncode == 141
    assert "rror" not in said


def test_several_commands_at_once_get_a_fork_each(warm: Shell) -> None:
    running = [warm.start("tabs", "--json") for _ in range(6)]
    for process in running:
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, err
        assert json.loads(out)["tabs"][0]["tab"] == "t1"


def test_a_command_that_is_done_before_its_process_looks_is_not_done_again(warm: Shell) -> None:
    slow = (
        "import _socket, time\n"
        "class Slow(_socket.socket):\n"
        "    def sendmsg(self, *arguments):\n"
        "        sent = super().sendmsg(*arguments)\n"
        "        time.sleep(2)\n"
        "        return sent\n"
        "_socket.socket = Slow\n"
        "from bridge.surfaces.cli import main; main()"
    )
    code, out, err = ended(warm, "tabs", "--json", program=(sys.executable, "-c", slow))
    assert code == 0, err
    assert out.count("\n") == 1


def test_a_zygote_that_does_not_answer_or_is_gone_is_done_without(warm: Shell, awake: list[int]) -> None:
    assert awake
    for pid in awake:
        os.kill(pid, signal.SIGSTOP)
    assert warm.json("tabs")["tabs"][0]["tab"] == "t1"
    for pid in awake:
        os.kill(pid, signal.SIGKILL)
    assert warm.json("tabs")["tabs"][0]["tab"] == "t1"


def test_a_zygote_ends_with_its_session_however_that_ends(warm: Shell) -> None:
    pids = zygotes(warm)
    assert len(pids) == 2, "the zygote, and a fork that waits"
    os.kill(warm.json("daemon", "status")["sessions"][0]["pid"], signal.SIGKILL)
    for pid in pids:
        warm.until_gone(pid)


def test_a_zygote_of_another_version_is_left_alone(warm: Shell) -> None:
    newer = (
        "import sys, bridge\nbridge.__version__ = '99'\n"
        "from bridge.surfaces.cli.hand_over import hand_over\nsys.exit(hand_over(['tabs']) is not None)"
    )
    assert ended(warm, program=(sys.executable, "-c", newer)) == (0, "", "")


def test_a_terminal_is_as_wide_for_a_fork_as_for_its_command(warm: Shell) -> None:
    warm.json("open", warm.demo.url("shop.html?" + 60 * "q"))
    printed = printed_in_a_terminal([*PROGRAM, "tabs"], 50, {**warm.environment, "NO_COLOR": "1"})
    assert printed.count("q") == 60
    assert max(map(len, without_codes(printed).splitlines())) <= 50
