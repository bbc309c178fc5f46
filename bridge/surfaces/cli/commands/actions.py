"""Commands that act by ref, one per action of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from bridge.surfaces.cli.dispatch import perform, print_answer
from bridge.surfaces.cli.options import FILE, WORDS, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import one_line

_url = click.option("--url", metavar="URL", help="Open this in a session of its own (default: the open session).")
# Of an action's arguments, what tells the action apart; others show in what comes of it.
_SAID = ("key", "direction", "amount")
_wait_for = click.option(
    "--wait-for", type=WORDS, metavar="TEXT", help="With --url: go on when this text is on the page."
)


def on_a_page(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--url`, `--wait-for` and the options of a session."""
    return _url(_wait_for(session_options(command)))


def checked_ref(ref: str) -> str:
    """`e3` for `e3` and `@e3`, before anything is started for it."""
    from bridge.page.snapshots.refs import parse_ref

    return parse_ref(ref)


def _act(
    name: str, options: SessionOptions, url: str | None, wait_for: str | None, arguments: Mapping[str, Any]
) -> None:
    params = {"action": name.replace("-", "_"), "arguments": dict(arguments)}
    answer = perform(name, options, "act", params, url=url, wait_for=wait_for, shows_refs="ref" in arguments)
    outcome = answer.json
    said = [name, *(str(arguments[key]) for key in _SAID if key in arguments)]
    if about := outcome.get("element") or outcome.get("ref"):
        said.append(str(about))
    acted = one_line(" ".join(said) + _result(outcome))
    print_answer(name, options, answer, f"{acted}\n{outcome['changes']['text']}", {})


def _result(outcome: Mapping[str, Any]) -> str:
    """What the control holds now; a select element has a value too, which is the first of its values."""
    if outcome.get("values") is not None:
        return f" = {', '.join(map(repr, outcome['values']))}"
    if outcome.get("checked") is not None:
        return " = checked" if outcome["checked"] else " = not checked"
    return "" if outcome.get("value") is None else f" = {outcome['value']!r}"


def _place(path: Path) -> str:
    """Where the file is whose path was typed here, without links on the way: the folder it must lie in has none."""
    return str(path.parent.resolve() / path.name)


def _by_ref(name: str, help_text: str) -> click.Command:
    """A command that takes a ref and nothing else."""

    @click.command(name, help=f"{help_text}\n\nWith --json: success, action, ref, checked?, changes, cost.")
    @click.argument("ref")
    @on_a_page
    def command(options: SessionOptions, ref: str, url: str | None, wait_for: str | None) -> None:
        _act(name, options, url, wait_for, {"ref": checked_ref(ref)})

    return command


@click.command()
@click.argument("ref")
@click.argument("value")
@on_a_page
def fill(options: SessionOptions, ref: str, value: str, url: str | None, wait_for: str | None) -> None:
    """Put VALUE into the control of REF, in place of what it holds, and tell what changed.

    With --json: success, action, ref, value, changes, cost.
    """
    _act("fill", options, url, wait_for, {"ref": checked_ref(ref), "value": value})


@click.command("type")
@click.argument("ref")
@click.argument("text")
@on_a_page
def type_command(options: SessionOptions, ref: str, text: str, url: str | None, wait_for: str | None) -> None:
    """Type TEXT at the end of what the control of REF holds, and tell what changed.

    With --json: success, action, ref, value, changes, cost.
    """
    _act("type", options, url, wait_for, {"ref": checked_ref(ref), "text": text})


@click.command()
@click.argument("ref")
@click.argument("values", nargs=-1, required=True)
@on_a_page
def select(options: SessionOptions, ref: str, values: tuple[str, ...], url: str | None, wait_for: str | None) -> None:
    """Choose the options VALUES (by value or by text) of the select element REF, and tell what changed.

    With --json: success, action, ref, values, changes, cost.
    """
    _act("select", options, url, wait_for, {"ref": checked_ref(ref), "values": list(values)})


@click.command()
@click.argument("key")
@click.option("--ref", metavar="REF", help="Focus this element first.")
@on_a_page
def press(options: SessionOptions, key: str, ref: str | None, url: str | None, wait_for: str | None) -> None:
    """Press KEY (Enter, a, Control+A) and tell what changed.

    With --json: success, action, ref, value?, changes, cost.
    """
    _act("press", options, url, wait_for, {"key": key, **({} if ref is None else {"ref": checked_ref(ref)})})


@click.command()
@click.argument("direction", metavar="DIRECTION", type=click.Choice(["up", "down", "left", "right"]))
@click.option(
    "--amount", type=WholeNumber(1, 100_000), default=300, show_default=True, metavar="PX", help="CSS pixels."
)
@click.option("--ref", metavar="REF", help="Scroll inside this element.")
@on_a_page
def scroll(
    options: SessionOptions, direction: str, amount: int, ref: str | None, url: str | None, wait_for: str | None
) -> None:
    """Scroll the page, or inside REF, to DIRECTION (up, down, left, right), and tell what changed.

    With --json: success, action, ref, changes, cost.
    """
    inside = {} if ref is None else {"ref": checked_ref(ref)}
    _act("scroll", options, url, wait_for, {"direction": direction, "amount": amount, **inside})


@click.command()
@click.argument("ref")
@click.argument("to")
@on_a_page
def drag(options: SessionOptions, ref: str, to: str, url: str | None, wait_for: str | None) -> None:
    """Drag the element REF onto the element TO, and tell what changed.

    With --json: success, action, ref, changes, cost.
    """
    _act("drag", options, url, wait_for, {"ref": checked_ref(ref), "to": checked_ref(to)})


@click.command()
@click.argument("ref")
@click.argument("paths", nargs=-1, required=True, metavar="FILE…", type=FILE)
@on_a_page
def upload(options: SessionOptions, ref: str, paths: tuple[Path, ...], url: str | None, wait_for: str | None) -> None:
    """Give FILEs to the file input REF, and tell what changed.

    They have to lie below the folder that the session was opened with: open … --uploads-root FOLDER.

    With --json: success, action, ref, values, changes, cost.
    """
    files = [_place(path) for path in paths]
    _act("upload", options, url, wait_for, {"ref": checked_ref(ref), "paths": files})


@click.command()
@click.argument("source", metavar="URL|REF")
@click.argument("file", type=FILE)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there.")
@on_a_page
def download(
    options: SessionOptions, source: str, file: Path, overwrite: bool, url: str | None, wait_for: str | None
) -> None:
    """Save as FILE what is at URL, fetched with the page's cookies, or what tapping REF starts to download.

    FILE has to lie below the folder that the session was opened with: open … --downloads-root FOLDER.

    With --json: url, path, size_bytes, suggested_name, mime, status, cost, notices?
    """
    from bridge.page.snapshots.refs import is_ref

    is_of_page = is_ref(source)
    given = {"ref": checked_ref(source)} if is_of_page else {"url": source}
    params = {**given, "dest_path": _place(file), "overwrite": overwrite}
    answer = perform("download", options, "download", params, url=url, wait_for=wait_for, shows_refs=is_of_page)
    told = f"saved {answer.json['path']} ({answer.json['size_bytes']:,} bytes)"
    print_answer("download", options, answer, told, {})


COMMANDS: tuple[click.Command, ...] = (
    _by_ref("click", "Tap the element of REF (e3) and tell what changed."),
    _by_ref("double-click", "Tap the element of REF twice and tell what changed."),
    _by_ref("long-press", "Keep a finger on the element of REF and tell what changed."),
    fill,
    type_command,
    _by_ref("clear", "Empty the control of REF and tell what changed."),
    _by_ref("check", "Check the checkbox, radio or switch of REF and tell what changed."),
    _by_ref("uncheck", "Uncheck the checkbox or switch of REF and tell what changed."),
    select,
    press,
    _by_ref("focus", "Focus the element of REF and tell what changed."),
    _by_ref("hover", "Hold a mouse over the element of REF and tell what changed."),
    scroll,
    _by_ref("scroll-into-view", "Scroll until the element of REF is in view and tell what changed."),
    drag,
    upload,
    download,
)
