"""Commands of an open session are thin clients: quick to start, and otherwise like any other process."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from terminals import printed_in_a_terminal, without_codes

from tests.cli.conftest import LIMIT_S, PROGRAM, Shell

pytestmark = pytest.mark.browser

HEAVY = {"asyncio", "bridge.policy", "bridge.page.page", "bridge.session.session", "pydantic", "rich", "subprocess"}


@pytest.fixture
def warm(shell: Shell) -> Shell:
    shell.open()
    return shell


def ended(shell: Shell, *arguments: str, program: tuple[str, ...] = PROGRAM, **more: Any) -> tuple[int, str, str]:
    done = subprocess.run(
        [*program, *arguments],
        env=shell.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        **more,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", [["snapshot", "--json"], ["scroll", "down", "--json"], ["console", "--json"]])
def test_a_warm_command_imports_only_what_it_needs(warm: Shell, arguments: list[str]) -> None:
    code, out, err = ended(warm, *arguments, program=(PROGRAM[0], "-X", "importtime", *PROGRAM[1:]))
    assert code == 0, err
    assert json.loads(out)["command"] == arguments[0]
    modules = {line.rpartition("|")[2].strip() for line in err.splitlines() if line.startswith("import time:")}
    assert "bridge.surfaces.daemon.client" in modules
    assert not modules & HEAVY
    commands = {name for name in modules if name.startswith("bridge.surfaces.cli.commands.")}
    assert "bridge.surfaces.cli.commands.devices.host" not in commands


def test_files_are_written_in_the_working_folder_with_the_umask_of_the_command(warm: Shell, tmp_path: Path) -> None:
    code, out, err = ended(warm, "snapshot", "--out", "shop.txt", cwd=tmp_path, umask=0o027)
    assert (code, out) == (0, "saved shop.txt\n"), err
    assert "Aurum" in (tmp_path / "shop.txt").read_text()
    assert stat.S_IMODE((tmp_path / "shop.txt").stat().st_mode) == 0o640


def test_a_file_may_be_an_open_descriptor(warm: Shell) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as pipe:
        try:
            code, _, err = ended(warm, "snapshot", "--out", f"/dev/fd/{writing}", pass_fds=[writing])
        finally:
            os.close(writing)
        assert code == 0, err
        assert "Aurum" in pipe.read()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_signal_ends_the_command_and_cancels_its_wait(warm: Shell, number: signal.Signals, code: int) -> None:
    waiting = warm.start("wait", "--text", "never there")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=3.0)
    waiting.send_signal(number)
    out, err = waiting.communicate(timeout=LIMIT_S)
    assert (waiting.returncode, out) == (code, "")
    assert err == ("\ninterrupted\n" if number == signal.SIGINT else "")
    assert "Aurum" in warm.json("snapshot", "--timeout", "10")["title"]


def test_a_reader_that_closes_the_pipe_is_not_an_error(warm: Shell) -> None:
    with subprocess.Popen([*PROGRAM, "snapshot"], env=warm.environment, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        printed = process.stderr.read()
    assert process.returncode == 141
    assert "rror" not in printed


def test_several_commands_run_at_once(warm: Shell) -> None:
    running = [warm.start("tabs", "--json") for _ in range(6)]
    for process in running:
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, err
        assert json.loads(out)["tabs"][0]["tab"] == "t1"


def test_a_table_is_as_wide_as_the_terminal(warm: Shell) -> None:
    warm.json("open", warm.demo.url("shop.html?" + 60 * "q"))
    printed = printed_in_a_terminal([*PROGRAM, "tabs"], 50, {**warm.environment, "NO_COLOR": "1"})
    assert printed.count("q") == 60
    assert max(map(len, without_codes(printed).splitlines())) <= 50
