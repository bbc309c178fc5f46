"""The group of commands, and the place where errors become lines and exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

import bridge
from bridge.errors import BridgeError, UsageError
from bridge.surfaces.cli.examples import EXAMPLES
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.output import report_failure

INTERRUPTED, BROKEN_PIPE = 130, 141
_COMMON = ("-v", "--verbose", "--json", "--timeout", "--device", "--session", "--local", "--allow", "--url")

_EPILOG = """Exit codes: 0 ok, 1 the operation failed, 2 bad usage, 3 no device, 4 refused by policy, 5 timeout.

With --json every command prints one JSON object: {"ok": true, "command": …} with its results, or {"ok": false,
"error": {"code", "message", "hint"?, "details"?}, "exit_code"}."""


#: The commands as `--help` shows them: name -> module of `commands/` that has it in its COMMANDS.
SECTIONS: dict[str, dict[str, str]] = {
    "Pages": {
        **dict.fromkeys(("open", "snapshot"), "pages.page"),
        "read": "pages.read",
        **dict.fromkeys(("get", "eval", "wait", "back", "forward", "reload"), "pages.page"),
        **dict.fromkeys(("screenshot", "record", "console", "network"), "pages.capture"),
        **dict.fromkeys(("pdf", "dialog", "cookies", "storage", "set", "batch"), "pages.settings"),
    },
    "Actions by ref or locator": dict.fromkeys(
        (
            *("click", "double-click", "long-press", "fill", "type", "clear", "check", "uncheck", "select", "press"),
            *("focus", "hover", "scroll", "scroll-into-view", "drag", "upload", "download"),
        ),
        "pages.actions",
    ),
    "Tabs and sessions": {
        **dict.fromkeys(("tabs", "tab", "close-tab", "view", "close", "daemon"), "session"),
        "trace": "trace",
    },
    "For models": {"mcp": "models", "ops": "ops", "schema": "models", "skill": "models"},
    "Without a device": {
        "fetch": "offline.fetch",
        "policy": "offline.policy",
        "gate": "offline.policy",
        "retried": "offline.retries",
        "bench": "offline.bench",
    },
    "Devices": {
        "doctor": "devices.doctor",
        "devices": "devices.devices",
        "targets": "devices.devices",
        "host": "devices.host",
        "virtual": "devices.devices",
        "demo": "devices.demo",
    },
    "Shells": {"completion": "completion"},
}
#: Options of a session that is opened.
_OPENING = frozenset(("device", "local_ports", "allowed_origins", "uploads_root", "downloads_root", "trace"))
_MODULE_OF = {name: module for section in SECTIONS.values() for name, module in section.items()}


class _Sections(Commands):
    """Shows commands in sections, and imports the module of a command when the command is used.

    A warm command takes about as long as its imports.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODULE_OF)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return command_named(cmd_name) if cmd_name in _MODULE_OF else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in SECTIONS.items():
            self.format_section(title, map(command_named, names), formatter, width=max(map(len, _MODULE_OF)))


def command_named(name: str) -> click.Command:
    """A command of the top level; KeyError if there is none."""
    module = import_module(f"bridge.surfaces.cli.commands.{_MODULE_OF[name]}")
    commands: tuple[click.Command, ...] = module.COMMANDS
    command = next(command for command in commands if command.name == name)
    if command.epilog is None:
        lines = [f"  wvb {example}" for example in EXAMPLES[name]]
        command.epilog = "\n".join(["\b", "Examples:", *lines])
        if name != "open":
            _fold(command, is_of_page=any(param.name == "url" for param in command.params))
    return command


def _fold(command: click.Command, *, is_of_page: bool) -> None:
    """Hide the options that count when a session is opened; they still work."""
    if not any(param.name == "session_name" for param in command.params):
        return
    for param in command.params:
        if param.name in _OPENING and isinstance(param, click.Option):
            param.hidden = True
    more = " or with --url" if is_of_page else ""
    command.epilog = f"{command.epilog}\n\nDevice, origins and folders are chosen at 'open'{more}; see 'open --help'."


def all_commands() -> dict[str, click.Command]:
    """Every command of the top level by name, in the order of `--help`."""
    return {name: command_named(name) for name in _MODULE_OF}


@click.group(
    cls=_Sections,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    epilog=_EPILOG,
)
@click.version_option(bridge.__version__, message="webview-bridge %(version)s")
@click.pass_context
def webview_bridge(context: click.Context) -> None:
    """Drive a real Android WebView over ADB; without a phone, a virtual device on this machine.

    Start with 'demo', or with: open URL, snapshot, click e3.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code and never raises."""
    as_json, stdout = "--json" in arguments, sys.stdout
    try:
        code = webview_bridge.main(list(arguments), prog_name="webview-bridge", standalone_mode=False)
        sys.stdout.flush()
    except BridgeError as error:
        return report_failure(error, as_json)
    except click.UsageError as error:
        return report_failure(_usage_error(error), as_json)
    except click.ClickException as error:
        return report_failure(UsageError(error.format_message()), as_json)
    except (click.Abort, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            click.echo("interrupted", err=True)
        return INTERRUPTED
    except SystemExit as stopped:
        if sys.stdout is not stdout:  # click replaces stdout after a broken pipe and exits with 1
            return BROKEN_PIPE
        return stopped.code if isinstance(stopped.code, int) else 1
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`). Buffered output must not raise again at exit.
        _discard_stdout()
        return BROKEN_PIPE
    except OSError as error:  # of this machine, such as a full disk behind stdout
        code = report_failure(BridgeError(f"{error.strerror or error}{_file_of(error)}"), as_json)
        if error.filename is None:
            _discard_stdout()
        return code
    except Exception as error:  # nothing a user or a page sends may end in a traceback
        if "-v" in arguments or "--verbose" in arguments:
            raise
        unexpected = BridgeError(
            f"unexpected {type(error).__name__}: {error}",
            hint="This is a bug in webview-bridge; --verbose shows the traceback.",
        )
        return report_failure(unexpected, as_json)
    return code if isinstance(code, int) else 0


def _file_of(error: OSError) -> str:
    return "" if error.filename is None else f": {error.filename}"


def _discard_stdout() -> None:
    """Keep the interpreter from writing buffered output again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_error(error: click.UsageError) -> UsageError:
    command = error.ctx.command_path if error.ctx else "webview-bridge"
    group = error.ctx.command if error.ctx else None
    # For a group without a command click's message is the whole help; its exception class exists since click 8.2.
    if isinstance(group, click.Group) and error.message.startswith("Usage:"):
        return UsageError(f"{command} needs a command: {', '.join(group.commands)}", hint=f"See '{command} --help'.")
    if isinstance(error, click.NoSuchOption) and isinstance(group, click.Group) and error.option_name in _COMMON:
        return UsageError(f"{error.option_name} comes after the command.", hint=f"See '{command} --help'.")
    return UsageError(error.format_message(), hint=f"See '{command} --help'.")
