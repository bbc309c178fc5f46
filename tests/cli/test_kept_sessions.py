"""A session that lives between commands: separate processes, one set of tabs and refs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bridge.surfaces.pytest_plugin.local_server import serving
from tests.cli.conftest import LIMIT_S, Shell, ref_of

pytestmark = pytest.mark.browser


def test_tabs_and_refs_live_between_processes(shell: Shell) -> None:
    assert shell.open()["tab"] == "t1"
    text = shell.json("snapshot")["text"]
    filled = shell.json("fill", ref_of(text, 'searchbox "Search'), "gold")
    assert filled["value"] == "gold"
    clicked = shell.json("click", "@" + ref_of(text, 'button "Cart'))
    assert clicked["element"].startswith(ref_of(text, 'button "Cart') + " button")
    assert 'heading "Your cart"' in clicked["changes"]["text"]
    assert ref_of(shell.json("snapshot")["text"], 'button "Cart') == ref_of(text, 'button "Cart')

    assert shell.json("open", shell.demo.url("login.html"), "--new-tab")["tab"] == "t2"
    assert [row["tab"] for row in shell.json("tabs")["tabs"] if row["current"]] == ["t2"]
    assert shell.json("tab", "t1")["tabs"][0]["current"] is True
    assert shell.json("close-tab", "t2")["closed"] == "t2"
    picture = shell.folder / "shot.png"
    assert shell.json("screenshot", "--out", str(picture))["file"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert shell.json("close")["closed"] == "default"
    assert shell.json("close")["closed"] is None


def test_without_a_session_a_command_says_how_to_get_one(shell: Shell) -> None:
    code, out, err = shell.run("click", "e1")
    assert (code, out) == (2, "")
    assert "no session 'default' is open. 'webview-bridge open URL' opens one" in err


def test_sessions_are_apart_by_name(shell: Shell) -> None:
    shell.open()
    other = ("--device", "virtual", "--local", str(shell.demo.port), "--session", "other")
    shell.json("open", shell.demo.url("login.html"), *other)
    assert "Aurum" in shell.json("snapshot")["title"]
    assert {row["session"] for row in shell.json("daemon", "status")["sessions"]} == {"default", "other"}
    assert sorted(shell.json("daemon", "stop")["stopped"]) == ["default", "other"]


def test_an_error_comes_across_with_its_code_and_exit_code(shell: Shell) -> None:
    shell.open()
    code, out, _ = shell.run("click", "e999", "--json")
    failure = json.loads(out)
    assert (code, failure["exit_code"], failure["error"]["code"]) == (1, 1, "ref_not_found")
    code, _, err = shell.run("open", "http://127.0.0.1:1/")
    assert code == 4
    assert "policy_refused" in err
    code, _, err = shell.run("wait", "--text", "never there", "--timeout", "0.5")
    assert code == 5
    assert "never there" in err


def test_other_users_cannot_connect_to_a_kept_session(shell: Shell) -> None:
    shell.open()
    assert stat.S_IMODE(shell.sessions.stat().st_mode) == 0o700
    for path in shell.sessions.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_every_action_takes_what_its_command_gives(shell: Shell) -> None:
    shell.open()
    text = shell.json("snapshot")["text"]
    search, metal = ref_of(text, 'searchbox "Search'), ref_of(text, 'combobox "Metal')
    stock = ref_of(text, 'checkbox "Only')
    assert shell.json("type", search, "go")["value"] == "go"
    assert shell.json("clear", search)["value"] == ""
    assert shell.json("select", metal, "Gold")["values"] == ["Gold"]
    assert shell.json("check", stock)["checked"] is True
    assert shell.json("uncheck", stock)["checked"] is False
    for command in ("focus", "hover", "scroll-into-view", "long-press", "double-click"):
        assert shell.json(command, search)["success"] is True
    assert shell.json("scroll", "down")["action"] == "scroll"
    assert shell.json("press", "Enter", "--ref", search)["success"] is True
    assert shell.json("get", search, "attributes")["value"]["type"] == "search"


def test_a_killed_command_takes_its_wish_along_and_nothing_else(shell: Shell) -> None:
    shell.open()
    waiting = shell.start("wait", "--text", "never there")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.communicate(timeout=1.0)
    waiting.send_signal(signal.SIGKILL)
    waiting.communicate(timeout=LIMIT_S)
    assert "Aurum" in shell.json("snapshot", "--timeout", "10")["title"]


def test_an_idle_session_ends_by_itself(shell: Shell) -> None:
    shell.open(WEBVIEW_BRIDGE_IDLE_EXIT_S="1")
    with contextlib.suppress(FileNotFoundError):  # it may have ended by now
        shell.until_gone(json.loads((shell.sessions / "default.json").read_text())["pid"])
    assert not (shell.sessions / "default.sock").exists()


def test_a_session_of_another_version_is_started_again_and_that_is_said(shell: Shell) -> None:
    older = (
        "import sys, bridge; bridge.__version__ = '0.0.1'; sys.argv = ['daemon', 'default'];"
        "from bridge.surfaces.daemon.__main__ import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", older],
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    code, _, err = shell.run("open", shell.demo.url("shop.html"), *shell.options)
    assert code == 0, err
    assert "ran version 0.0.1 and was restarted" in err
    process.wait(LIMIT_S)
    process.stdout.close()
    assert "Aurum" in shell.json("snapshot")["title"]


def test_a_session_whose_first_page_does_not_load_is_not_kept(shell: Shell) -> None:
    code, _, err = shell.run("open", "http://no-such-host.invalid/", *shell.options)
    assert code == 1, err
    assert "navigation_failed" in err
    end = time.monotonic() + LIMIT_S
    while shell.json("daemon", "status")["sessions"] and time.monotonic() < end:
        time.sleep(0.05)
    assert shell.json("daemon", "status")["sessions"] == []


def test_a_session_that_cannot_start_leaves_no_process(shell: Shell) -> None:
    code, _, err = shell.run("open", shell.demo.url("shop.html"), "--local", str(shell.demo.port), "--device", "nobody")
    assert code == 3, err
    assert "device_not_found" in err
    end = time.monotonic() + LIMIT_S
    while shell.json("daemon", "status")["sessions"] and time.monotonic() < end:
        time.sleep(0.05)
    assert shell.json("daemon", "status")["sessions"] == []


def test_a_session_is_not_silently_another_than_the_one_asked_for(shell: Shell) -> None:
    shell.open()
    code, _, err = shell.run("open", shell.demo.url("shop.html"), *shell.options, "--local", "1234")
    assert code == 2
    assert "is open with other options: local ports" in err


def test_two_that_open_at_once_share_one_session(shell: Shell) -> None:
    both = [shell.start("open", shell.demo.url("shop.html"), *shell.options) for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, err
    assert len(shell.json("daemon", "status")["sessions"]) == 1


@pytest.mark.parametrize("name", ["", "../x", "a/b", "x" * 41, "ü", "-x"])
def test_a_name_that_would_leave_the_folder_is_refused(shell: Shell, name: str) -> None:
    code, _, err = shell.run("tabs", f"--session={name}")
    assert code == 2
    assert "is not a valid session name" in err


def test_a_session_whose_process_is_stopped_can_be_ended_and_keeps_no_command_for_ever(shell: Shell) -> None:
    shell.open()
    pid = shell.json("daemon", "status")["sessions"][0]["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        code, _, err = shell.run("tabs")
        assert code == 5, err
        assert "accepting the command timed out" in err
        code, _, err = shell.run("close")
        assert code == 0, err
        shell.until_gone(pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_the_log_of_a_session_survives_who_tries_to_start_it_again(shell: Shell) -> None:
    shell.open()
    log = shell.sessions / "default.log"
    before = log.read_bytes()
    again = subprocess.run(
        [
            sys.executable,
            "-c",
            "from bridge.surfaces.daemon import client\n"
            "from bridge.surfaces.daemon.session_files import files_of\n"
            "client._spawn(files_of('default'), client._Timer(20, 'the start'))",
        ],
        env=shell.environment,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert log.read_bytes().startswith(before)


def test_half_a_surrogate_pair_on_a_page_ends_no_command(shell: Shell, tmp_path: Path) -> None:
    words = "cut \\ud83d off"
    (tmp_path / "half.html").write_text(f'<script>document.title="{words}"; console.log("{words}")</script>')
    with serving(tmp_path) as server:
        opened = shell.json("open", server.url("half.html"), *shell.options, "--local", str(server.port))
        assert opened["title"] == "cut ? off"
        assert shell.json("console")["entries"][0]["text"] == "cut ? off"
        code, out, err = shell.run("console", "--url", server.url("half.html"), "--local", str(server.port), "--json")
    assert code == 0, err
    assert "cut \\ud83d off" in out
