"""Every command with input that makes no sense: refused in one line before any device is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import pytest

from bridge.surfaces.cli.app import all_commands, run
from bridge.surfaces.cli.options import FILE, TEXT, Number, WholeNumber

#: Not commands of ours to parse: `bench` hands everything on to another program.
FOREIGN = ("bench",)
#: A value for each argument, so that what is wrong is the option.
ARGUMENTS = {
    "REF": "e1",
    "TO": "e2",
    "TAB": "t1",
    "KIND": "text",
    "SHELL": "bash",
    "DIRECTION": "down",
    "URL|REF": "e1",
    "URL": "https://shop.example/",
    "URL…": "https://shop.example/",
    "[SESSION]...": "default",
}


def commands(
    group: Mapping[str, click.Command], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.items():
        if isinstance(command, click.Group):
            yield from commands(command.commands, (*path, name))
        elif name not in FOREIGN:
            yield (*path, name), command


EVERY = tuple(commands(all_commands()))
GROUPS = tuple(name for name, command in all_commands().items() if isinstance(command, click.Group))


def arguments_of(command: click.Command) -> list[str]:
    """What has to be given, each as a word that is good for it."""
    return [
        ARGUMENTS.get(str(argument.metavar), "value")
        for argument in command.params
        if isinstance(argument, click.Argument) and argument.required
    ]


def bad_values(option: click.Option) -> Iterator[str]:
    """What that option cannot be, by what it says it is."""
    kind = option.type
    if option.is_flag:
        return
    if isinstance(kind, click.Choice):
        yield from ("", "no-such-choice")
    elif isinstance(kind, WholeNumber | Number):
        yield from ("", "many", "nan", "1e400")
        if kind.min is not None:
            yield str(kind.min - 1)
        if kind.max is not None:
            yield str(kind.max + 1)
    elif kind in (TEXT, FILE) or isinstance(kind, click.Path):
        yield ""


def bad_lines(path: tuple[str, ...], command: click.Command) -> Iterator[list[str]]:
    line = [*path, *arguments_of(command)]
    yield [*line, "--no-such-option"]
    if len(line) > len(path):
        yield [*path]
    if not any(isinstance(parameter, click.Argument) and parameter.nargs == -1 for parameter in command.params):
        yield [*line, "one", "more", "than", "it", "takes"]
    for option in command.params:
        if isinstance(option, click.Option):
            for value in bad_values(option):
                yield [*line, option.opts[0], value]


@pytest.fixture(autouse=True)
def own_sessions(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that other tests or the user keep are not seen from here, and a file that is written is not missed."""
    folder = tmp_path_factory.mktemp("run")
    folder.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.chdir(tmp_path)


def refused(line: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr of a command that has printed nothing else and ended with 2."""
    assert run(line) == 2, line
    printed = capsys.readouterr()
    assert printed.out == "", line
    assert printed.err.startswith("bad_usage: "), line
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[" ".join(path) for path, _ in EVERY])
def test_bad_arguments_are_reported_on_one_line_or_in_one_object(
    path: tuple[str, ...], command: click.Command, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = list(bad_lines(path, command))
    for line in lines:
        said = refused(line, capsys)
        assert len(said) < 400, line

    assert run([*lines[0], "--json"]) == 2
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert printed.err == ""
    assert answer["error"]["code"] == "bad_usage"
    assert answer["exit_code"] == 2


@pytest.mark.parametrize("group", [group for group in GROUPS if group != "cookies"])  # which prints them
def test_a_group_without_a_command_names_its_commands(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused([group], capsys)
    found = all_commands()[group]
    assert isinstance(found, click.Group)
    assert said.startswith(f"bad_usage: webview-bridge {group} needs a command: {', '.join(found.commands)}.")


SENSELESS = (
    (["snapshot", "--wait-for", "Paid"], "wait --text"),
    (["read", "--wait-for", "Paid"], "wait --text"),
    (["click", "e1", "--wait-for", "Paid"], "wait --text"),
    (["snapshot", "--all", "--controls"], "cannot be combined"),
    (["snapshot", "--html", "page.html", "--url", "https://shop.example/"], "cannot be combined"),
    (["read", "--outline", "--section", "Rings"], "cannot be combined"),
    (["open", "https://shop.example/", "--url", "https://shop.example/"], "one URL"),
    (["mcp", "--port", "1"], "--http"),
    (["mcp", "--allow-javascript"], "--tools simple"),
    (["mcp", "--adb-server", "host:99999"], "1 to 65535"),
    (["mcp", "--secrets-env", ""], "'' is not set"),
    (["fetch", ""], "https://example.com/"),
    (["fetch", "https://"], "no host"),
    (["virtual", "stop", "one", "--all"], "either a device or --all"),
    (["ops", "--secret", "a b=PATH"], "letters"),
    (["open", "https://shop.example/", "--trace", "no/such/folder.html"], "the folder no/such does not exist"),
)


@pytest.mark.parametrize(("line", "said"), SENSELESS, ids=[" ".join(line) for line, _ in SENSELESS])
def test_contradicting_options_are_refused(line: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refused(line, capsys)


FILES = {
    "missing": lambda path: None,
    "a folder": lambda path: path.mkdir(),
    "empty": lambda path: path.write_bytes(b""),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00\x81"),
    "something else": lambda path: path.write_text("hello"),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("command", ["trace export", "trace to-pytest", "retried", "host install --apk"])
def test_an_error_names_a_file_of_the_wrong_kind(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FILES[kind](tmp_path / "given")
    if command.startswith("host") and kind not in ("missing", "a folder"):
        pytest.skip("the device's package manager judges an APK")

    assert "given" in refused([*command.split(), "given"], capsys)


@pytest.mark.parametrize("kind", ["missing", "a folder"])
def test_html_that_cannot_be_read_is_named(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FILES[kind](tmp_path / "given")
    assert "cannot read given" in refused(["snapshot", "--html", "given"], capsys)


@pytest.mark.parametrize("command", ["snapshot", "read", "screenshot", "record"])
def test_a_file_is_not_written_over_a_folder(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "given").mkdir()
    assert "given is a folder" in refused([command, "--out", "given"], capsys)


def test_html_can_be_searched_as_a_page_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.html").write_text("<button>Pay</button><button>Cancel</button>")

    assert run(["snapshot", "--html", "page.html", "--find", "Pay"]) == 0
    shown = capsys.readouterr().out
    assert "Pay" in shown
    assert "Cancel" not in shown


def test_an_address_is_completed_by_fetch_as_by_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fetch", "10.0.0.1"]) == 4
    assert "https://10.0.0.1" in capsys.readouterr().err
    assert run(["fetch", "localhost"]) == 4  # servers of this machine rarely have certificates
    assert "http://localhost" in capsys.readouterr().err
