"""Commands that act on an element by ref or locator: one for each verb of `bridge.page.verbs`, and `download`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.page.verbs import VERBS, Argument, Verb
from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.options import (
    FILE,
    REF,
    SessionOptions,
    WholeNumber,
    locator_options,
    page_options,
    taken_locator,
)
from bridge.surfaces.cli.output import one_line

# Arguments that appear in the printed line; the others show in the outcome.
_PRINTED = ("key", "direction", "amount")
_UPLOADS = "Files must be inside the folder that the session was opened with: open … --uploads-root FOLDER."


def _command(verb: Verb) -> click.Command:
    """The command of a verb. Its words are the ref, unless a locator is given, then the verb's arguments."""
    name = verb.name.replace("_", "-")
    fields = ", ".join(("success, action, ref", *filter(None, (verb.shown,)), "changes, cost"))
    needed = [argument for argument in verb.arguments if argument.default is None]

    @click.argument("words", nargs=-1, metavar=" ".join(_metavars(verb, needed)))
    @locator_options
    @page_options
    def command(
        options: SessionOptions, url: str | None, wait_for: str | None, words: Sequence[str], **given: Any
    ) -> None:
        locator = taken_locator(given)
        ref = given.pop("ref", None)
        if ref is not None and locator:
            raise UsageError("--ref and a locator exclude each other.")
        arguments: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if verb.takes_element == "always" and not locator:
            ref, words = _first("REF", words), words[1:]
        if ref is not None:
            arguments["ref"] = REF.convert(ref, None, click.get_current_context())
        arguments |= _taken(needed, words)
        params = {"action": verb.name, "arguments": arguments, "locator": locator}
        needs_refs = "ref" in arguments or any(argument.kind == "ref" for argument in needed)
        result = run_command(name, options, "act", params, url=url, wait_for=wait_for, needs_refs=needs_refs)
        outcome = result.json
        line = [name, *(str(arguments[key]) for key in _PRINTED if key in arguments)]
        if about := outcome.get("element") or outcome.get("ref"):
            line.append(str(about))
        acted = one_line(" ".join(line) + _result(outcome))
        print_result(name, options, result, f"{acted}\n{outcome['changes']['text']}", {})

    for argument in verb.arguments:
        if argument.default is not None:
            command = click.option(
                f"--{argument.name}",
                type=WholeNumber(1, 100_000),
                default=int(argument.default),
                show_default=True,
                metavar="PX",
                help=argument.description,
            )(command)
    if verb.takes_element == "optionally":
        command = click.option("--ref", metavar="REF", help="Of this element.")(command)
    more = f"{_UPLOADS}\n\n" if verb.name == "upload" else ""
    summary = verb.summary.removesuffix(".")
    return click.command(name, help=f"{summary}, and print what changed.\n\n{more}With --json: {fields}.")(command)


def _metavars(verb: Verb, needed: Sequence[Argument]) -> list[str]:
    words = ["[REF]"] if verb.takes_element == "always" else []
    return words + [_metavar(argument) for argument in needed]


def _metavar(argument: Argument) -> str:
    named = "FILE" if argument.kind == "files" else argument.name.upper()
    return f"{named}…" if argument.kind in ("texts", "files") else named


def _taken(needed: Sequence[Argument], words: Sequence[str]) -> dict[str, Any]:
    """The words as the verb's arguments.

    Raises:
        click.UsageError: One is missing, is not valid, or there are more.
    """
    context = click.get_current_context()
    arguments: dict[str, Any] = {}
    for argument in needed:
        _first(_metavar(argument), words)
        if argument.kind == "files":
            arguments[argument.name] = [_place(FILE.convert(word, None, context)) for word in words]
        elif argument.kind == "texts":
            arguments[argument.name] = list(words)
        elif argument.choices:
            arguments[argument.name] = click.Choice(argument.choices).convert(words[0], None, context)
        else:
            arguments[argument.name] = REF.convert(words[0], None, context) if argument.kind == "ref" else words[0]
        words = () if argument.kind in ("files", "texts") else words[1:]
    if words:
        raise click.UsageError(f"unexpected extra argument {words[0]!r}", context)
    return arguments


def _first(named: str, words: Sequence[str]) -> str:
    if not words:
        raise click.UsageError(f"Missing argument '{named}'.", click.get_current_context())
    return words[0]


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
    from bridge.page.snapshots.refs import is_ref, parse_ref

    is_of_page = is_ref(source)
    given = {"ref": parse_ref(source)} if is_of_page else {"url": source}
    params = {**given, "dest_path": _place(file), "overwrite": overwrite}
    result = run_command("download", options, "download", params, url=url, wait_for=wait_for, needs_refs=is_of_page)
    line = f"saved {result.json['path']} ({result.json['size_bytes']:,} bytes)"
    print_result("download", options, result, line, {})


COMMANDS: tuple[click.Command, ...] = (*map(_command, VERBS.values()), download)
