"""Acting by locator, properties, dialogs, cookies, storage, emulation and batches, as a shell user types them."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess

import click
import pytest

from bridge.surfaces.cli.app import all_commands, run
from bridge.surfaces.cli.examples import EXAMPLES
from tests.cli.conftest import LIMIT_S, PROGRAM, Shell

GUIDE = pytest.mark.browser


@GUIDE
def test_commands_act_by_locator(shell: Shell) -> None:
    shell.open()
    assert shell.json("fill", "--role", "searchbox", "--name", "Search", "ring")["value"] == "ring"
    assert shell.json("type", "--role", "searchbox", "s")["value"] == "rings"
    assert shell.json("check", "--label", "Only")["checked"] is True
    assert shell.json("press", "Enter", "--css", "input[type=search]")["success"] is True
    assert shell.json("select", "--role", "combobox", "--name", "Metal", "Gold")["values"] == ["Gold"]
    assert "rings" in shell.run("get", "value", "--role", "searchbox")[1]
    code, _, err = shell.run("click", "--text", "nowhere at all", "--timeout", "30")
    assert code != 0
    assert "nowhere at all" in err


@GUIDE
def test_get_prints_properties_of_the_page_and_of_elements(shell: Shell) -> None:
    opened = shell.open()
    assert shell.run("get", "title")[1].strip() == opened["title"]
    assert shell.run("get", "url")[1].strip() == opened["url"]
    assert "Search" in shell.json("get", "text", "--limit", "0")["value"]
    assert shell.json("get", "html", "--limit", "20")["truncated"] is True
    assert shell.json("get", "attributes", "--role", "searchbox")["value"]["type"] == "search"
    assert "color" in shell.json("get", "styles", "--role", "searchbox")["value"]
    for wrong in (["title", "e1"], ["styles"], ["e1"], ["text", "value", "e1"], ["colour", "e1"]):
        assert shell.run("get", *wrong)[0] == 2


@GUIDE
def test_dialogs_cookies_storage_and_emulation(shell: Shell) -> None:
    shell.open()
    ask = "() => { document.title = 'said ' + confirm('Sure?'); return document.title; }"
    assert shell.run("eval", ask)[1].strip() == "said false"
    assert shell.json("dialog", "accept")["next_dialog"] == "accept"
    assert shell.run("eval", ask)[1].strip() == "said true"
    assert shell.run("eval", ask)[1].strip() == "said false", "an answer is for one dialog"
    shell.run("dialog", "accept", "Ada")
    assert shell.run("eval", "() => prompt('Name?')")[1].strip() == "Ada"
    shell.run("cookies", "set", "theme", "dark")
    assert "theme=dark" in shell.run("cookies")[1]
    assert shell.json("cookies", "clear")["cookies"] == []
    shell.run("storage", "local", "size", "large")
    assert shell.run("storage", "local")[1].strip() == "size=large"
    assert shell.run("storage", "session", "size")[1].strip() == ""
    shell.run("set", "viewport", "500", "700")
    assert shell.run("eval", "innerWidth")[1].strip() == "500"
    shell.run("set", "media", "dark")
    assert shell.run("eval", "matchMedia('(prefers-color-scheme: dark)').matches")[1].strip() == "true"
    shell.run("set", "offline", "on")
    assert shell.run("eval", "navigator.onLine")[1].strip() == "false"
    assert shell.json("set", "geo", "-33.9", "18.4")["set"] == {"latitude": -33.9, "longitude": 18.4}


@GUIDE
def test_a_batch_runs_its_lines_in_one_process(shell: Shell) -> None:
    shell.open()
    lines = "# a comment\nwvb get title\nfill --role searchbox 'two words'\nclick e999\nget url\n"
    for options, expected in ((["--json"], 4), (["--json", "--bail"], 3)):
        process = subprocess.run(
            [*PROGRAM, "batch", *options],
            input=lines,
            env=shell.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        answers = [json.loads(line) for line in process.stdout.splitlines()]
        assert [answer["ok"] for answer in answers] == [True, True, False, True][:expected]
        assert process.returncode == 1


@GUIDE
def test_interactive_snapshots_leave_out_prose_and_keep_what_places_controls(shell: Shell) -> None:
    shell.open()
    whole, short = shell.run("snapshot")[1], shell.run("snapshot", "-i")[1]
    assert len(short) < len(whole)
    assert 'searchbox "Search' in short
    assert "heading" in short


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_help_has_three_examples_that_the_command_takes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    help_text = capsys.readouterr().out
    command = all_commands()[name]
    for example in EXAMPLES[name]:
        if not isinstance(command, click.Group):
            assert f"wvb {example}" in help_text
        given = shlex.split(re.split(r" [<>|] ", example)[0])[1:]
        chosen: click.Command = command
        if isinstance(chosen, click.Group) and given and given[0] in chosen.commands:
            chosen, given = chosen.commands[given[0]], given[1:]
        with contextlib.suppress(click.exceptions.Exit):  # --help, once the words before it are valid
            chosen.make_context(name, list(given))


def test_every_command_has_examples() -> None:
    assert EXAMPLES.keys() == all_commands().keys()


def test_device_options_are_shown_where_a_session_is_opened(capsys: pytest.CaptureFixture[str]) -> None:
    run(["open", "--help"])
    assert "--downloads-root" in capsys.readouterr().out
    run(["click", "--help"])
    shown = capsys.readouterr().out
    assert "--downloads-root FOLDER" not in shown
    assert "open --help" in " ".join(shown.split())
    assert "x<=None" not in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--verbose", "open", "https://a.example/"], 2, "--verbose comes after the command"),
        (["open", "127.0.0.1:8123/x"], 4, "http://127.0.0.1:8123/x is refused"),
        (["open", "localhost:8123"], 4, "http://localhost:8123 is refused"),
        (["click", "--text", "a", "--css", "b", "--url", "https://a.example/"], 2, "one locator"),
        (["click", "e1", "--name", "a", "--url", "https://a.example/"], 2, "--role"),
        (["dialog", "dismiss", "text"], 2, "takes no text"),
    ],
)
def test_messages_speak_of_what_the_command_line_has(
    arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    shown = capsys.readouterr().err
    assert said in shown
    assert "in Python" not in shown
