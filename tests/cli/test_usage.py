"""What the command line does before, and without, any device."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from bridge.surfaces.cli.app import all_commands, run

PAGE_COMMANDS = {
    "open": [],
    "snapshot": [],
    "click": ["e1"],
    "fill": ["e1", "gold"],
    "press": ["Enter"],
    "screenshot": [],
}
GROUPS = {name: command for name, command in all_commands().items() if isinstance(command, click.Group)}
EVERY_COMMAND = [
    # What `mcp` prints is a protocol's, `completion` and `skill` print a text to save, and `bench` is another program.
    *([name] for name in all_commands() if name not in ("mcp", "completion", "skill", "bench", *GROUPS)),
    *([name, below] for name, group in GROUPS.items() for below in group.commands),
]


@pytest.fixture(autouse=True)
def own_sessions(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that other tests or the user keep are not seen from here."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))


def with_url(command: str, url: str) -> list[str]:
    return [command, url] if command == "open" else [command, *PAGE_COMMANDS[command], "--url", url]


def test_help_names_every_command_and_needs_none_of_the_heavy_imports() -> None:
    code = (
        "import sys\n"
        "from bridge.surfaces.cli.app import run\n"
        "code = run(['--help'])\n"
        "heavy = {'asyncio', 'rich', 'websockets', 'PIL', 'adbutils', 'pydantic', 'lxml', 'httpx', 'httpcore'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr
    for name in all_commands():
        assert f"\n  {name} " in done.stdout


def test_skill_names_only_commands_and_exit_codes_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["skill"]) == 0

    text = capsys.readouterr().out
    assert text.startswith("---\nname: webview-bridge\n")
    named = set(re.findall(r"\bwvb ([a-z-]+)", text))
    named |= set(re.findall(r"`([a-z][a-z-]+)`", text.split("## Commands")[1]))
    assert named - {"timeout", "covered"} <= set(all_commands())
    assert {"open", "snapshot", "click", "fill", "wait", "read", "screenshot", "close", "doctor"} <= named


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert capsys.readouterr().out.startswith("Usage: webview-bridge")


@pytest.mark.parametrize("command", EVERY_COMMAND, ids=" ".join)
def test_every_command_documents_itself_and_takes_the_common_options(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--help"]) == 0

    text = capsys.readouterr().out
    for option in ("--json", "--timeout", "--adb-server"):
        assert option in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["nothing"],
        ["--nothing"],
        ["open"],
        ["open", "https://a.example/", "https://b.example/"],
        ["snapshot", "--url", "https://a.example/", "--max-chars", "many"],
        ["click", "--url", "https://a.example/"],
        ["click", "button", "--url", "https://a.example/"],
        ["click", "e0", "--url", "https://a.example/"],
        ["fill", "e1", "--url", "https://a.example/"],
        ["press", "--url", "https://a.example/"],
        ["press", "Enter", "--ref", "e٣", "--url", "https://a.example/"],
        ["screenshot", "--url", "https://a.example/", "--out", "no/such/folder/a.png"],
        ["screenshot", "--url", "https://a.example/", "--out", "."],
        ["screenshot", "--url", "https://a.example/", "--format", "bmp"],
        ["open", "https://a.example/", "--local", "0"],
        ["open", "https://a.example/", "--local", "65536"],
        ["open", "https://a.example/", "--timeout", "0"],
        ["open", "https://a.example/", "--timeout", "nan"],
        ["open", "https://a.example/", "--timeout", "inf"],
        ["open", "https://"],
        ["open", ""],
        ["open", "https://a.example/", "--adb-server", "nonsense:port"],
        ["virtual", "stop", "some", "--all"],
        ["virtual", "start", "--name", "a b"],
    ],
    ids=" ".join,
)
def test_bad_usage_is_one_line_on_stderr_and_ends_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("bad_usage: ")
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["fill", "e1"], "VALUE"), (["type", "e1"], "TEXT"), (["select", "e1", "one"], "VALUES"), (["open"], "URL")],
)
def test_bytes_that_are_no_text_are_bad_usage(
    arguments: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, os.fsdecode(b"caf\xe9")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("bad_usage: ")
    assert name in said
    assert "not valid UTF-8 text" in said


@pytest.mark.parametrize("command", PAGE_COMMANDS)
@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "chrome://version", "content://a/b"]
)
def test_addresses_that_are_not_of_the_web_are_refused_with_4(
    command: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(with_url(command, url)) == 4
    assert capsys.readouterr().err.startswith("policy_refused: ")


@pytest.mark.parametrize("command", PAGE_COMMANDS)
def test_loopback_is_refused_and_the_message_shows_the_option_that_allows_it(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*with_url(command, "http://127.0.0.1:3000/"), "--local", "3001"]) == 4
    assert "--local 3000" in capsys.readouterr().err


def test_with_json_an_error_is_one_object_with_stable_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["open", "http://localhost:3000/", "--json"]) == 4

    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert printed.err == ""
    assert answer.keys() == {"ok", "error", "exit_code"}
    assert answer["ok"] is False
    assert answer["exit_code"] == 4
    assert answer["error"].keys() == {"code", "message", "hint", "details"}
    assert answer["error"]["code"] == "policy_refused"


def test_with_json_bad_usage_is_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fill", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad_usage"


@pytest.mark.parametrize("command", [["devices"], ["open", "https://a.example/"], ["virtual", "start"]], ids=" ".join)
def test_an_adb_server_that_cannot_be_reached_ends_with_3(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    # Port 1 of a remote server that is this machine: refused at once, and never started by us.
    assert run([*command, "--adb-server", "127.0.0.2:1", "--timeout", "20"]) == 3
    assert capsys.readouterr().err.startswith("adb_unavailable: ")


def test_virtual_status_needs_no_adb_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["virtual", "status", "--json", "--adb-server", "127.0.0.2:1"]) == 0

    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] is True
    assert answer["command"] == "virtual status"
    assert isinstance(answer["devices"], list)


def test_stopping_an_unknown_virtual_device_ends_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["virtual", "stop", "no-such-device"]) == 3
    assert capsys.readouterr().err.startswith("no_device: ")


def test_a_folder_that_cannot_be_made_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")

    assert run(["demo", "--out", str(tmp_path / "file" / "below")]) == 2
    assert capsys.readouterr().err.startswith("bad_usage: ")


def test_a_closed_pipe_is_not_an_error() -> None:
    code = "from bridge.surfaces.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_refused_address_is_a_failure_in_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "check", "https://example.com/", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert run(["policy", "check", "https://example.com/", "http://127.0.0.1/", "--json"]) == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["exit_code"], len(told["decisions"])) == (False, 4, 2)


def test_schemas_come_as_one_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "--format", "anthropic"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert run(["schema", "--format", "anthropic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "command": "schema", "tools": plain}
