"""Commands for what surrounds a page: dialogs, cookies, storage, emulation, PDF; and many commands at once."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.dispatch import print_result, run_command
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import (
    FILE,
    CommonOptions,
    Number,
    SessionOptions,
    WholeNumber,
    common_options,
    page_options,
    session_options,
)
from bridge.surfaces.cli.output import check_writable, report_failure, write_file


@click.command()
@click.argument("answer", type=click.Choice(["accept", "dismiss"]))
@click.argument("text", required=False)
@session_options
def dialog(options: SessionOptions, answer: str, text: str | None) -> None:
    """Answer the page's next confirm or prompt, with TEXT for a prompt; repeat the action that opened it.

    Without this command they are dismissed, and the action's output quotes them.

    With --json: next_dialog, text.
    """
    if text is not None and answer == "dismiss":
        raise UsageError("a dialog that is dismissed takes no text.")
    result = run_command("dialog", options, "dialog", {"accept": answer == "accept", "text": text})
    print_result("dialog", options, result, f"the next confirm or prompt: {answer}", {})


@click.group(cls=Commands, invoke_without_command=True)
@session_options
@click.pass_context
def cookies(context: click.Context, options: SessionOptions) -> None:
    """Print the session's cookies, or change them.

    With --json: cookies: [{name, value, domain, path, …}].
    """
    if context.invoked_subcommand is None:
        result = run_command("cookies", options, "cookies", {})
        lines = [f"{c['name']}={c['value']} {c['domain']}{c['path']}" for c in result.json["cookies"]]
        print_result("cookies", options, result, "\n".join(lines), {})


@cookies.command("set")
@click.argument("name")
@click.argument("value")
@session_options
def set_cookie(options: SessionOptions, name: str, value: str) -> None:
    """Set a cookie for the current page's site.

    With --json: cookies.
    """
    result = run_command("cookies set", options, "cookies", {"name": name, "value": value})
    print_result("cookies set", options, result, f"set {name}", {})


@cookies.command("clear")
@session_options
def clear_cookies(options: SessionOptions) -> None:
    """Delete all cookies of the session.

    With --json: cookies.
    """
    print_result("cookies clear", options, run_command("cookies clear", options, "cookies", {"clear": True}), "", {})


@click.command()
@click.argument("area", type=click.Choice(["local", "session"]))
@click.argument("key", required=False)
@click.argument("value", required=False)
@page_options
def storage(
    options: SessionOptions, url: str | None, wait_for: str | None, area: str, key: str | None, value: str | None
) -> None:
    """Print the page's local or session storage, or the value of KEY; with VALUE set it.

    With --json: items, or value.
    """
    params = {"area": area, "key": key, "value": value}
    result = run_command("storage", options, "storage", params, url=url, wait_for=wait_for)
    if key is None:
        text = "\n".join(f"{name}={item}" for name, item in result.json["items"].items())
    else:
        text = "" if value is not None else str(result.json["value"] or "")
    print_result("storage", options, result, text, {})


@click.group("set", cls=Commands)
def set_group() -> None:
    """Emulate a viewport, location, network or medium in the current tab."""


def _setting(command: str, options: SessionOptions, method: str, named: Mapping[str, Any], text: str) -> None:
    result = run_command(f"set {command}", options, "emulate", {"method": method, "named": dict(named)})
    print_result(f"set {command}", options, result, text, {})


@set_group.command()
@click.argument("width", type=WholeNumber(1, 10_000))
@click.argument("height", type=WholeNumber(1, 10_000))
@session_options
def viewport(options: SessionOptions, width: int, height: int) -> None:
    """Set the size of the viewport in CSS pixels.

    With --json: set.
    """
    size = {"width": width, "height": height}
    _setting("viewport", options, "set_viewport_size", {"viewport_size": size}, f"viewport {width} x {height}")


@set_group.command(context_settings={"ignore_unknown_options": True})  # a latitude may be negative
@click.argument("latitude", type=Number(-90, 90))
@click.argument("longitude", type=Number(-180, 180))
@session_options
def geo(options: SessionOptions, latitude: float, longitude: float) -> None:
    """Set the location that the device reports.

    With --json: set.
    """
    named = {"latitude": latitude, "longitude": longitude}
    _setting("geo", options, "set_geolocation", named, f"location {latitude:g} {longitude:g}")


@set_group.command()
@click.argument("state", type=click.Choice(["on", "off"]))
@session_options
def offline(options: SessionOptions, state: str) -> None:
    """Cut the page off the network, or connect it again.

    With --json: set.
    """
    _setting("offline", options, "set_offline", {"offline": state == "on"}, f"offline {state}")


@set_group.command()
@click.argument("medium", type=click.Choice(["dark", "light", "print", "screen"]))
@session_options
def media(options: SessionOptions, medium: str) -> None:
    """Set the colour scheme, or the medium that styles are for.

    With --json: set.
    """
    key = "color_scheme" if medium in ("dark", "light") else "media"
    _setting("media", options, "emulate_media", {key: medium}, f"media {medium}")


@click.command()
@click.option("--out", "--output", "out", type=FILE, default=Path("page.pdf"), metavar="FILE", show_default=True)
@page_options
def pdf(options: SessionOptions, url: str | None, wait_for: str | None, out: Path) -> None:
    """Save the page as PDF. Only a virtual device can: a WebView on a phone prints no PDF over DevTools.

    With --json: file, size_bytes.
    """
    check_writable(out)
    result = run_command("pdf", options, "pdf", {}, url=url, wait_for=wait_for)
    write_file(out, result.blob)
    print_result("pdf", options, result, f"saved {out} ({len(result.blob):,} bytes)", {"file": str(out)})


@click.command()
@click.option("--bail", is_flag=True, help="Stop after the first failure.")
@common_options
def batch(options: CommonOptions, bail: bool) -> None:
    """Run commands from stdin, one on each line as a shell would split it, in one process.

    A line that begins with # is skipped. The exit code is that of the first failure.
    """
    from bridge.surfaces.cli.app import run

    first_failure = 0
    for line in sys.stdin:
        try:
            words = shlex.split(line, comments=line.lstrip().startswith("#"))
        except ValueError as error:
            code = report_failure(UsageError(f"{line.strip()[:200]}: {error}"), options.as_json)
        else:
            if words[:1] in (["wvb"], ["webview-bridge"]):
                words = words[1:]
            if not words:
                continue
            if words[0] == "batch":
                code = report_failure(UsageError("batch cannot run itself."), options.as_json)
            else:
                code = run([*words, *(["--json"] if options.as_json and "--json" not in words else [])])
        first_failure = first_failure or code
        if code and bail:
            break
    if first_failure:
        sys.exit(first_failure)


COMMANDS = (dialog, cookies, storage, set_group, pdf, batch)
