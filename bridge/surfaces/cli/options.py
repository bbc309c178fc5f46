"""Options that several commands share."""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.output import check_writable
from bridge.surfaces.session_command import StartOptions

R = TypeVar("R")
Command = Callable[..., R]


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Options of every command.

    Attributes:
        timeout_s: Limit of the whole command; None leaves each step its own timeout.
    """

    as_json: bool
    timeout_s: float | None
    adb_server: str | None
    verbose: bool


@dataclass(frozen=True, slots=True)
class OwnSessionOptions(CommonOptions):
    """Options of commands that open a session."""

    device: str
    local_ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SessionOptions(OwnSessionOptions):
    """Options of commands that run in a session which may be kept."""

    session_name: str
    trace: Path | None
    allowed_origins: tuple[str, ...]
    uploads_root: str | None
    downloads_root: str | None


class WholeNumber(click.IntRange):
    name = "whole number"  # for click's message "'x' is not a valid whole number"


class Number(click.FloatRange):
    name = "number"

    def _describe_range(self) -> str:
        """For the help of options; click would show `x<=None` where there is no limit."""
        return super()._describe_range() if (self.min, self.max) != (None, None) else ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):  # NaN is in every range
            self.fail(f"{number:g} is not a finite number.", param, ctx)
        return number


class _NonEmptyText(click.ParamType[str]):
    """Non-empty text. An empty one is usually a shell variable that is not set."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("must not be empty.", param, ctx)
        return str(value)


class _File(click.Path):
    """A non-empty path; an empty one would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("must not be empty.", param, ctx)
        return super().convert(value, param, ctx)


class _Ref(click.ParamType[str]):
    """`e3`, also written `@e3`."""

    name = "ref"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from bridge.page.snapshots.refs import parse_ref

        return parse_ref(str(value))


TEXT = _NonEmptyText()
REF = _Ref()
# Surrogate escapes of bytes that cannot be decoded (PEP 383).
_IS_BYTES = re.compile("[\udc80-\udcff]")
FILE = _File(path_type=Path)
FOLDER = _File(path_type=Path, file_okay=False)
EXISTING_FILE = _File(path_type=Path, exists=True, dir_okay=False)


class _Port(click.ParamType[int]):
    """A port. Unlike WholeNumber, help does not show [1<=x<=65535]."""

    name = "port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return int(WholeNumber(1, 65535).convert(value, param, ctx))


def _check_seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value:g} is not a positive number of seconds.", context, option)
    return value


_COMMON = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option(
        "--timeout",
        "timeout_s",
        type=Number(),
        callback=_check_seconds,
        metavar="S",
        help="Time limit of the whole command in seconds (default: each step has its own).",
    ),
    click.option(
        "--adb-server", type=TEXT, metavar="HOST:PORT", help="The adb server (default: the one that adb uses)."
    ),
    click.option("-v", "--verbose", is_flag=True, help="Log to stderr, and show tracebacks of unexpected errors."),
)


#: Options of the commands that print a page as text.
max_length_option = click.option(
    "--max-length",
    type=WholeNumber(min=0),
    default=50_000,
    show_default=True,
    metavar="N",
    help="Maximum length of the text; 0 for no limit.",
)
out_option = click.option("--out", type=FILE, metavar="FILE", help="Write the text to FILE.")


def local_option(description: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """`--local PORT`."""
    return click.option("--local", "local_ports", type=_Port(), multiple=True, metavar="PORT", help=description)


#: Where pages open.
DEVICE_OPTIONS = (
    click.option(
        "--device",
        type=TEXT,
        default="auto",
        show_default=True,
        metavar="auto|virtual|SERIAL",
        help="auto: the attached device, else a virtual one. A serial never falls back to another device.",
    ),
    local_option("Allow pages from this port of the machine's loopback. Repeatable."),
)
#: Where files are read and written.
FOLDER_OPTIONS = (
    click.option(
        "--uploads-root", type=TEXT, metavar="FOLDER", help="Folder that upload may read from (default: none)."
    ),
    click.option(
        "--downloads-root", type=TEXT, metavar="FOLDER", help="Folder that download may write to (default: none)."
    ),
)
_url = click.option(
    "--url", metavar="URL", help="Open this URL in a session of its own (default: use the kept session)."
)
_wait_for = click.option(
    "--wait-for", type=TEXT, metavar="TEXT", help="With --url: wait for this text on the page first."
)
_SESSION = (
    *DEVICE_OPTIONS,
    click.option(
        "--allow",
        "allowed_origins",
        multiple=True,
        metavar="ORIGIN",
        help="Allow only this origin, instead of the policy's allowed_origins. Repeatable.",
    ),
    *FOLDER_OPTIONS,
    click.option(
        "--session",
        "session_name",
        default="default",
        show_default=True,
        envvar="WEBVIEW_BRIDGE_SESSION",
        metavar="NAME",
        help="Name of the kept session.",
    ),
    click.option(
        "--trace",
        type=FILE,
        metavar="FILE",
        help="When the session ends, write a trace of it there, as HTML.",
    ),
)


#: Locators of one element: option -> method of Page, as in Playwright.
LOCATORS = {
    "role": ("get_by_role", "ARIA role, with --name its accessible name."),
    "text": ("get_by_text", "Text that it shows."),
    "label": ("get_by_label", "Its label."),
    "placeholder": ("get_by_placeholder", "Its placeholder."),
    "test-id": ("get_by_test_id", "Its data-testid."),
    "css": ("locator", "CSS selector."),
}


def locator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--role`, `--text` and the others, for `taken_locator`."""
    command = click.option("--name", "by_name", type=TEXT, metavar="TEXT", help="With --role: accessible name.")(
        command
    )
    for name, (method, description) in reversed(LOCATORS.items()):
        about = f"Instead of REF: {description}"
        command = click.option(f"--{name}", f"by_{method}", type=TEXT, metavar=name.upper(), help=about)(command)
    return command


def taken_locator(given: dict[str, Any]) -> dict[str, str]:
    """The locator among a command's arguments, removed from them: {"method", "value", "name"?}; {} without one.

    Raises:
        UsageError: Several locators, or --name without --role.
    """
    name = given.pop("by_name", None)
    found = {method: value for method, _ in LOCATORS.values() if (value := given.pop(f"by_{method}", None)) is not None}
    if len(found) > 1 or (name is not None and "get_by_role" not in found):
        raise UsageError("give one locator; --name belongs to --role.")
    return {key: given for method, value in found.items() for key, given in _named(method, value, name).items()}


def _named(method: str, value: str, name: str | None) -> dict[str, str]:
    return {"method": method, "value": value} | ({"name": name} if name else {})


def common_options(command: Command[R]) -> Command[R]:
    """Pass a CommonOptions to the command as its first argument."""
    return _with_options(command, CommonOptions, _COMMON)


def own_session_options(command: Command[R]) -> Command[R]:
    """Pass an OwnSessionOptions to the command as its first argument."""
    return _with_options(command, OwnSessionOptions, (*DEVICE_OPTIONS, *_COMMON))


def session_options(command: Command[R]) -> Command[R]:
    """Pass a SessionOptions to the command as its first argument."""
    return _with_options(command, SessionOptions, (*_SESSION, *_COMMON))


def page_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--url`, `--wait-for` and the options of a session."""
    return _url(_wait_for(session_options(command)))


def start_options(options: SessionOptions) -> StartOptions:
    """Options for opening the command's session. Paths are absolute: the session's process may run in another folder.

    Raises:
        UsageError: The trace cannot be written there.
    """
    check_writable(options.trace)
    return StartOptions(
        options.device,
        options.adb_server,
        tuple(sorted(set(options.local_ports))),
        _absolute(options.trace),
        tuple(sorted(set(options.allowed_origins))),
        _absolute(options.uploads_root),
        _absolute(options.downloads_root),
    )


def _absolute(path: str | Path | None) -> str | None:
    return None if path is None else str(Path(path).absolute())


def origin_flags(command: click.decorators.FC) -> click.decorators.FC:
    """`--allow`, `--deny`, `--default-action`; they override the environment and the file."""
    for option in (
        click.option("--allow", multiple=True, metavar="ORIGIN", help="Replaces allowed_origins. Repeatable."),
        click.option("--deny", multiple=True, metavar="ORIGIN", help="Replaces denied_origins. Repeatable."),
        click.option("--default-action", type=click.Choice(["deny", "allow", "ask"]), help="For all other origins."),
    ):
        command = option(command)
    return command


def folder_options(command: click.decorators.FC) -> click.decorators.FC:
    """`--uploads-root` and `--downloads-root`."""
    for option in reversed(FOLDER_OPTIONS):
        command = option(command)
    return command


def _check_text(given: Mapping[str, Any]) -> None:
    """Reject undecodable bytes in text that goes to a page; file names may contain them."""
    context = click.get_current_context()
    for param in context.command.params:
        value = given.get(str(param.name))
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and not text.isascii() and _IS_BYTES.search(text):
                raise click.BadParameter("not valid UTF-8 text.", context, param)


def _with_options(command: Command[R], kind: type[CommonOptions], options: Sequence[Any]) -> Command[R]:
    names = tuple(field.name for field in fields(kind))

    @functools.wraps(command)
    def wrapped(**given: Any) -> R:
        _check_text(given)
        return command(kind(**{name: given.pop(name) for name in names}), **given)

    decorated: Command[R] = wrapped
    for option in reversed(options):
        decorated = option(decorated)
    return decorated
