"""Commands that act on an element by its ref."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.options import FILE, TEXT, SessionOptions, WholeNumber, session_options
from bridge.surfaces.cli.output import one_line

_url = click.option(
    "--url", metavar="URL", help="Open this URL in a session of its own (default: use the kept session)."
)
# Arguments that appear in the printed line; the others show in the outcome.
_PRINTED = ("key", "direction", "amount")
_wait_for = click.option(
    "--wait-for", type=TEXT, metavar="TEXT", help="With --url: wait for this text on the page first."
)


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--url`, `--wait-for` and the options of a session."""
    return _url(_wait_for(session_options(command)))


def checked_ref(ref: str) -> str:
    """`e3` for `e3` and `@e3`, checked before anything is started."""
    from bridge.page.snapshots.refs import parse_ref

    return parse_ref(ref)


def _act(
    name: str, options: SessionOptions, url: str | None, wait_for: str | None, arguments: Mapping[str, Any]
) -> None:
    params = {"action": name.replace("-", "_"), "arguments": dict(arguments)}
    result = run_command(name, options, "act", params, url=url, wait_for=wait_for, needs_refs="ref" in arguments)
    outcome = result.json
    line = [name, *(str(arguments[key]) for key in _PRINTED if key in arguments)]
    if about := outcome.get("element") or outcome.get("ref"):
        line.append(str(about))
    acted = one_line(" ".join(line) + _result(outcome))
    print_result(name, options, result, f"{acted}\n{outcome['changes']['text']}", {})


def _result(outcome: Mapping[str, Any]) -> str:
    """The new value of the control. A select element also has a value: the first of its values."""
    if outcome.get("values") is not None:
        return f" = {', '.join(map(repr, outcome['values']))}"
    if outcome.get("checked") is not None:
        return " = checked" if outcome["checked"] else " = not checked"
    return "" if outcome.get("value") is None else f" = {outcome['value']!r}"


def _place(path: Path) -> str:
    """The absolute path without symbolic links in its folder, as the allowed folder has none."""
    return str(path.parent.resolve() / path.name)


def _ref_command(name: str, help_text: str) -> click.Command:
    """A command that takes only a ref."""

    @click.command(name, help=f"{help_text}\n\nWith --json: success, action, ref, checked?, changes, cost.")
    @click.argument("ref")
    @page_options
    def command(options: SessionOptions, ref: str, url: str | None, wait_for: str | None) -> None:
        _act(name, options, url, wait_for, {"ref": checked_ref(ref)})

    return command


@click.command()
@click.argument("ref")
@click.argument("value")
@page_options
def fill(options: SessionOptions, ref: str, value: str, url: str | None, wait_for: str | None) -> None:
    """Replace the value of the control REF with VALUE and print what changed.

    With --json: success, action, ref, value, changes, cost.
    """
    _act("fill", options, url, wait_for, {"ref": checked_ref(ref), "value": value})


@click.command("type")
@click.argument("ref")
@click.argument("text")
@page_options
def type_command(options: SessionOptions, ref: str, text: str, url: str | None, wait_for: str | None) -> None:
    """Type TEXT at the end of the control REF and print what changed.

    With --json: success, action, ref, value, changes, cost.
    """
    _act("type", options, url, wait_for, {"ref": checked_ref(ref), "text": text})


@click.command()
@click.argument("ref")
@click.argument("values", nargs=-1, required=True)
@page_options
def select(options: SessionOptions, ref: str, values: tuple[str, ...], url: str | None, wait_for: str | None) -> None:
    """Select the options VALUES (by value or text) of the select element REF and print what changed.

    With --json: success, action, ref, values, changes, cost.
    """
    _act("select", options, url, wait_for, {"ref": checked_ref(ref), "values": list(values)})


@click.command()
@click.argument("key")
@click.option("--ref", metavar="REF", help="Focus this element first.")
@page_options
def press(options: SessionOptions, key: str, ref: str | None, url: str | None, wait_for: str | None) -> None:
    """Press KEY (Enter, a, Control+A) and print what changed.

    With --json: success, action, ref, value?, changes, cost.
    """
    _act("press", options, url, wait_for, {"key": key, **({} if ref is None else {"ref": checked_ref(ref)})})


@click.command()
@click.argument("direction", metavar="DIRECTION", type=click.Choice(["up", "down", "left", "right"]))
@click.option(
    "--amount", type=WholeNumber(1, 100_000), default=300, show_default=True, metavar="PX", help="CSS pixels."
)
@click.option("--ref", metavar="REF", help="Scroll inside this element.")
@page_options
def scroll(
    options: SessionOptions, direction: str, amount: int, ref: str | None, url: str | None, wait_for: str | None
) -> None:
    """Scroll the page, or inside REF, in DIRECTION (up, down, left, right) and print what changed.

    With --json: success, action, ref, changes, cost.
    """
    inside = {} if ref is None else {"ref": checked_ref(ref)}
    _act("scroll", options, url, wait_for, {"direction": direction, "amount": amount, **inside})


@click.command()
@click.argument("ref")
@click.argument("to")
@page_options
def drag(options: SessionOptions, ref: str, to: str, url: str | None, wait_for: str | None) -> None:
    """Drag the element REF onto the element TO and print what changed.

    With --json: success, action, ref, changes, cost.
    """
    _act("drag", options, url, wait_for, {"ref": checked_ref(ref), "to": checked_ref(to)})


@click.command()
@click.argument("ref")
@click.argument("paths", nargs=-1, required=True, metavar="FILE…", type=FILE)
@page_options
def upload(options: SessionOptions, ref: str, paths: tuple[Path, ...], url: str | None, wait_for: str | None) -> None:
    """Set the files of the file input REF and print what changed.

    Files must be inside the folder that the session was opened with: open … --uploads-root FOLDER.

    With --json: success, action, ref, values, changes, cost.
    """
    files = [_place(path) for path in paths]
    _act("upload", options, url, wait_for, {"ref": checked_ref(ref), "paths": files})


@click.command()
@click.argument("source", metavar="URL|REF")
@click.argument("file", type=FILE)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@page_options
def download(
    options: SessionOptions, source: str, file: Path, overwrite: bool, url: str | None, wait_for: str | None
) -> None:
    """Download URL with the page's cookies, or what tapping REF downloads, and save it as FILE.

    FILE must be inside the folder that the session was opened with: open … --downloads-root FOLDER.

    With --json: url, path, size_bytes, suggested_name, mime, status, cost, notices?
    """
    from bridge.page.snapshots.refs import is_ref

    is_of_page = is_ref(source)
    given = {"ref": checked_ref(source)} if is_of_page else {"url": source}
    params = {**given, "dest_path": _place(file), "overwrite": overwrite}
    result = run_command("download", options, "download", params, url=url, wait_for=wait_for, needs_refs=is_of_page)
    line = f"saved {result.json['path']} ({result.json['size_bytes']:,} bytes)"
    print_result("download", options, result, line, {})


COMMANDS: tuple[click.Command, ...] = (
    _ref_command("click", "Tap the element REF (e3) and print what changed."),
    _ref_command("double-click", "Double-tap the element REF and print what changed."),
    _ref_command("long-press", "Long-press the element REF and print what changed."),
    fill,
    type_command,
    _ref_command("clear", "Clear the control REF and print what changed."),
    _ref_command("check", "Check the checkbox, radio button or switch REF and print what changed."),
    _ref_command("uncheck", "Uncheck the checkbox or switch REF and print what changed."),
    select,
    press,
    _ref_command("focus", "Focus the element REF and print what changed."),
    _ref_command("hover", "Hover the mouse over the element REF and print what changed."),
    scroll,
    _ref_command("scroll-into-view", "Scroll the element REF into view and print what changed."),
    drag,
    upload,
    download,
)
