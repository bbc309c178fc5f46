"""What a person is told who has lost the device under a session that is kept."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.cli.conftest import Shell

pytestmark = pytest.mark.browser


def test_a_virtual_device_that_was_killed_ends_its_session_at_once_and_in_words_of_the_command_line(
    shell: Shell,
) -> None:
    name = f"lost-{os.getpid()}"
    shell.json("virtual", "start", "--name", name)
    (device,) = (row for row in shell.json("virtual", "status")["devices"] if row["name"] == name)
    serial, pid = device["serial"], device["pid"]
    local = ("--local", str(shell.demo.port))
    shell.json("open", shell.demo.url("shop.html"), "--device", serial, *local)
    os.kill(pid, signal.SIGKILL)
    shell.until_gone(pid)
    keeper = shell.json("daemon", "status")["sessions"][0]["pid"]

    # Far less than the half minute that a phone gets to come back.
    code, out, _ = shell.run("snapshot", "--json", "--timeout", "15")

    failure = json.loads(out)
    assert (code, failure["error"]["code"]) == (3, "device_lost")
    assert failure["error"]["message"] == f"the virtual device {serial} has ended and will not come back."
    assert failure["error"]["hint"] == "'webview-bridge open URL' starts a new session."
    shell.until_gone(keeper)
    assert shell.json("daemon", "status")["sessions"] == []
    shell.json("open", shell.demo.url("shop.html"), *shell.options)


def test_an_error_about_a_lost_tab_does_not_name_python_methods(shell: Shell) -> None:
    shell.open()
    shell.json("close-tab")
    code, _, err = shell.run("snapshot")
    assert code == 1
    assert err == "tab_lost: no tab is open. 'webview-bridge open URL' opens one.\n"
