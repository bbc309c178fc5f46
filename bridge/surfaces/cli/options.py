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

from bridge.surfaces.cli.output import check_writable
from bridge.surfaces.session_command import StartOptions

R = TypeVar("R")
Command = Callable[..., R]


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """What every command takes.

    Attributes:
        timeout_s: Bound of the whole command; None leaves every step its own.
    """

    as_json: bool
    timeout_s: float | None
    adb_server: str | None
    verbose: bool


@dataclass(frozen=True, slots=True)
class OwnSessionOptions(CommonOptions):
    """What every command takes that opens a session."""

    device: str
    local_ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SessionOptions(OwnSessionOptions):
    """What every command takes that runs in a session which may be kept."""

    session_name: str
    trace: Path | None
    allowed_origins: tuple[str, ...]
    uploads_root: str | None
    downloads_root: str | None


class WholeNumber(click.IntRange):
    name = "whole number"  # 'x' is not a valid one; click's word is "integer range"


class Number(click.FloatRange):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):  # nan is in every range
            self.fail(f"{number:g} is no number of anything.", param, ctx)
        return number


class _Words(click.ParamType[str]):
    """Text; an empty one is refused, which is a shell variable that is not set."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty.", param, ctx)
        return str(value)


class _File(click.Path):
    """A path; an empty one is refused rather than taken for the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("it is empty.", param, ctx)
        return super().convert(value, param, ctx)


WORDS = _Words()
# What Python makes of bytes that cannot be decoded (PEP 383).
_IS_BYTES = re.compile("[\udc80-\udcff]")
FILE = _File(path_type=Path)
FOLDER = _File(path_type=Path, file_okay=False)
EXISTING_FILE = _File(path_type=Path, exists=True, dir_okay=False)


class _Port(click.ParamType[int]):
    """A port; unlike WholeNumber it is not explained to everybody with [1<=x<=65535]."""

    name = "port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return int(WholeNumber(1, 65535).convert(value, param, ctx))


def _check_seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value:g} is not a time in seconds above 0.", context, option)
    return value


_COMMON = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option(
        "--timeout",
        "timeout_s",
        type=Number(),
        callback=_check_seconds,
        metavar="S",
        help="Seconds for the whole command (default: each step has its own).",
    ),
    click.option(
        "--adb-server", type=WORDS, metavar="HOST:PORT", help="Which adb server (default: as adb itself finds it)."
    ),
    click.option("-v", "--verbose", is_flag=True, help="Log to stderr, and show where unexpected errors came from."),
)


def local_option(said: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """`--local PORT`."""
    return click.option("--local", "local_ports", type=_Port(), multiple=True, metavar="PORT", help=said)


#: Where pages are opened.
DEVICE_OPTIONS = (
    click.option(
        "--device",
        type=WORDS,
        default="auto",
        show_default=True,
        metavar="auto|virtual|SERIAL",
        help="auto: the attached device, else a virtual one. A serial never falls back.",
    ),
    local_option("Allow pages from this machine's loopback on this port. May be repeated."),
)
#: Where files may come from and go to.
FOLDER_OPTIONS = (
    click.option(
        "--uploads-root", type=WORDS, metavar="FOLDER", help="Where upload may take files from (default: nowhere)."
    ),
    click.option(
        "--downloads-root", type=WORDS, metavar="FOLDER", help="Where download may put files (default: nowhere)."
    ),
)
_SESSION = (
    *DEVICE_OPTIONS,
    click.option(
        "--allow",
        "allowed_origins",
        multiple=True,
        metavar="ORIGIN",
        help="Only these origins, instead of the policy's allowed_origins. May be repeated.",
    ),
    *FOLDER_OPTIONS,
    click.option(
        "--session",
        "session_name",
        default="default",
        show_default=True,
        envvar="WEBVIEW_BRIDGE_SESSION",
        metavar="NAME",
        help="Which of the sessions that 'open' keeps.",
    ),
    click.option(
        "--trace",
        type=FILE,
        metavar="FILE",
        help="When the session ends, write what was done in it there, as HTML.",
    ),
)


def common_options(command: Command[R]) -> Command[R]:
    """Gives the function a CommonOptions as its first argument."""
    return _with_options(command, CommonOptions, _COMMON)


def own_session_options(command: Command[R]) -> Command[R]:
    """Gives the function an OwnSessionOptions as its first argument."""
    return _with_options(command, OwnSessionOptions, (*DEVICE_OPTIONS, *_COMMON))


def session_options(command: Command[R]) -> Command[R]:
    """Gives the function a SessionOptions as its first argument."""
    return _with_options(command, SessionOptions, (*_SESSION, *_COMMON))


def start_options(options: SessionOptions) -> StartOptions:
    """How to open the command's session. Paths are absolute: the session's process may run in another folder.

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
    """`--allow`, `--deny`, `--default-action`: over the environment and the file."""
    for option in (
        click.option("--allow", multiple=True, metavar="ORIGIN", help="Instead of allowed_origins. May be repeated."),
        click.option("--deny", multiple=True, metavar="ORIGIN", help="Instead of denied_origins. May be repeated."),
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
    """Bytes that are no text are only the names of files; a page is given characters."""
    context = click.get_current_context()
    for param in context.command.params:
        value = given.get(str(param.name))
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and not text.isascii() and _IS_BYTES.search(text):
                raise click.BadParameter("its bytes are no text (UTF-8).", context, param)


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
