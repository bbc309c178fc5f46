"""One-shot commands on a page: open an address in a new session, do one thing, print what came of it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.options import SessionOptions, session_options
from bridge.surfaces.cli.output import cost_words, note, one_line, print_json, printable, write_file
from bridge.surfaces.cli.reading_commands import snapshot_of_file

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.page.results import ActionResult
    from bridge.surfaces.cli.running import Steps

ACTION_TIMEOUT_S = 5.0
CAPTURE_TIMEOUT_S = 10.0
_SUFFIXES = {"png": "png", "jpeg": "jpg", "webp": "webp"}

_url = click.option("--url", required=True, metavar="URL", help="The page to open first.")
_wait_for = click.option("--wait-for", metavar="TEXT", help="Go on when this text is on the page.")


@click.command("open")
@click.argument("url", required=False)
@click.option("--url", "url_option", metavar="URL", help="The same, as an option.")
@_wait_for
@session_options
def open_command(options: SessionOptions, url: str | None, url_option: str | None, wait_for: str | None) -> None:
    """Open URL and tell where that led.

    With --json: url, title, status, waited_for, cost.
    """
    from bridge.surfaces.cli.running import NAVIGATION_TIMEOUT_S, Steps, checked_address, opened_session, run_async

    if (url is None) == (url_option is None):
        raise UsageError("open takes one URL.", hint="Such as: webview-bridge open https://example.com/")
    address = checked_address(url or url_option or "", options)
    steps = Steps(options.timeout_s)

    async def work() -> None:
        async with opened_session(options, steps) as session:
            page = await session.new_tab()
            found = await page.goto(address, timeout_s=steps.begin(f"opening {address}", NAVIGATION_TIMEOUT_S))
            if wait_for is not None:
                limit_s = steps.begin(f"waiting for {wait_for!r}", NAVIGATION_TIMEOUT_S)
                await page.wait_for(text=wait_for, timeout_s=limit_s)
        if options.as_json:
            print_json("open", found.to_json())
            return
        status = f"{found.status} " if found.status is not None else ""
        click.echo(one_line(f"{status}{found.url} {found.title}"))
        note(cost_words(found.cost))

    run_async("open", options, steps, work())


@click.command()
@click.option("--url", metavar="URL", help="The page to open first.")
@click.option("--html", metavar="FILE|-", help="Instead of a page: HTML text, without a device.")
@_wait_for
@click.option("--all", "everything", is_flag=True, help="Texts and structure too, not only what can be acted on.")
@click.option("--max-chars", type=click.IntRange(min=1), default=12_000, show_default=True, help="Bound of the text.")
@click.option("--scope", metavar="CSS", help="Only what is below the first element that this selector finds.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the text there.")
@session_options
def snapshot(
    options: SessionOptions,
    url: str | None,
    html: str | None,
    wait_for: str | None,
    everything: bool,
    max_chars: int,
    scope: str | None,
    out: Path | None,
) -> None:
    """Print the page as a short tree of roles and names with refs.

    With --json: text, refs, stats, url, title, more, cost.
    """
    _check_writable(out)
    if html is not None and (url is not None or wait_for is not None):
        raise UsageError("--html is a snapshot of a text; it goes with neither --url nor --wait-for.")
    if html is not None:
        snapshot_of_file(options, html, everything=everything, max_chars=max_chars, scope=scope, out=out)
        return
    if url is None:
        raise UsageError("Missing option '--url'.", hint="Or give --html FILE.")

    async def act(page: Page, steps: Steps) -> None:
        shot = await page.snapshot(
            interactive_only=not everything,
            max_chars=max_chars,
            scope=scope,
            timeout_s=steps.begin("taking a snapshot", ACTION_TIMEOUT_S),
        )
        if out is not None:
            write_file(out, f"{shot.text}\n".encode())
        if options.as_json:
            print_json("snapshot", {**shot.to_json(), **({"file": str(out)} if out else {})})
            return
        click.echo(f"saved {out}" if out else printable(shot.text))
        if shot.cost is not None:
            note(cost_words(shot.cost))

    _on_page("snapshot", options, url, wait_for, act)


@click.command("click")
@click.argument("ref")
@_url
@_wait_for
@session_options
def click_command(options: SessionOptions, ref: str, url: str, wait_for: str | None) -> None:
    """Tap the element of REF (e3), as a snapshot of the page numbers it, and tell what changed.

    With --json: success, action, ref, checked?, changes, cost.
    """
    number = _checked_ref(ref)

    def tap(page: Page, timeout_s: float) -> Awaitable[ActionResult]:
        return page.click(number, timeout_s=timeout_s)

    _act_on_page("click", options, url, wait_for, tap, ref=number)


@click.command()
@click.argument("ref")
@click.argument("value")
@_url
@_wait_for
@session_options
def fill(options: SessionOptions, ref: str, value: str, url: str, wait_for: str | None) -> None:
    """Put VALUE into the control of REF, in place of what it holds, and tell what changed.

    With --json: success, action, ref, value, changes, cost.
    """
    number = _checked_ref(ref)

    def put(page: Page, timeout_s: float) -> Awaitable[ActionResult]:
        return page.fill(number, value, timeout_s=timeout_s)

    _act_on_page("fill", options, url, wait_for, put, ref=number)


@click.command()
@click.argument("key")
@click.option("--ref", metavar="REF", help="Focus this element first.")
@_url
@_wait_for
@session_options
def press(options: SessionOptions, key: str, ref: str | None, url: str, wait_for: str | None) -> None:
    """Press KEY (Enter, a, Control+A) and tell what changed.

    With --json: success, action, ref, value?, changes, cost.
    """
    number = None if ref is None else _checked_ref(ref)

    def strike(page: Page, timeout_s: float) -> Awaitable[ActionResult]:
        return page.press(key, ref=number, timeout_s=timeout_s)

    _act_on_page("press", options, url, wait_for, strike, ref=number)


@click.command()
@_url
@_wait_for
@click.option("--annotate", is_flag=True, help="Draw boxes that are numbered like the refs of a snapshot.")
@click.option("--format", "image_format", type=click.Choice(list(_SUFFIXES)), default="png", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to (default: screenshot.png).")
@session_options
def screenshot(
    options: SessionOptions, url: str, wait_for: str | None, annotate: bool, image_format: Any, out: Path | None
) -> None:
    """Save a picture of the viewport.

    With --json: file, format, width_px, height_px, scale, strategy, truncated, legend, cost.
    """
    target = out or Path(f"screenshot.{_SUFFIXES[image_format]}")
    _check_writable(target)

    async def act(page: Page, steps: Steps) -> None:
        timeout_s = steps.begin("taking a picture", CAPTURE_TIMEOUT_S)
        picture = await page.screenshot(annotate=annotate, format=image_format, timeout_s=timeout_s)
        write_file(target, picture.image_bytes)
        if options.as_json:
            print_json("screenshot", {"file": str(target), **picture.to_json()})
            return
        click.echo(f"saved {target} ({picture.width_px} x {picture.height_px} px)")
        note(cost_words(picture.cost))

    _on_page("screenshot", options, url, wait_for, act)


def _on_page(
    command: str,
    options: SessionOptions,
    url: str,
    wait_for: str | None,
    act: Callable[[Page, Steps], Awaitable[None]],
) -> None:
    from bridge.surfaces.cli.running import Steps, checked_address, opened_page, run_async

    address = checked_address(url, options)
    steps = Steps(options.timeout_s)

    async def work() -> None:
        async with opened_page(options, steps, address, wait_for) as page:
            await act(page, steps)

    run_async(command, options, steps, work())


def _act_on_page(
    command: str,
    options: SessionOptions,
    url: str,
    wait_for: str | None,
    action: Callable[[Page, float], Awaitable[ActionResult]],
    *,
    ref: str | None,
) -> None:
    async def act(page: Page, steps: Steps) -> None:
        # Numbers the refs, in the same order every time; a page without a ref to act on is not looked at.
        shot = None
        if ref is not None:
            shot = await page.snapshot(timeout_s=steps.begin("taking a snapshot", ACTION_TIMEOUT_S))
        result = await action(page, steps.begin(command, ACTION_TIMEOUT_S))
        if options.as_json:
            print_json(command, result.to_json())
            return
        node = shot.refs.get(ref) if shot is not None and ref is not None else None
        value = "" if result.value is None else f" = {result.value!r}"
        click.echo(one_line(f"{result.action} {node or ref or ''}{value}"))
        click.echo(printable(str(result.changes)))
        note(cost_words(result.cost))

    _on_page(command, options, url, wait_for, act)


def _checked_ref(ref: str) -> str:
    """`e3` for `e3` and `@e3`."""
    number = ref.removeprefix("@")
    if not re.fullmatch(r"e[1-9][0-9]*", number, re.ASCII):
        raise UsageError(f"{ref[:80]!r} is no ref.", hint="A ref looks like e3; 'webview-bridge snapshot' shows them.")
    return number


def _check_writable(target: Path | None) -> None:
    if target is not None and not target.parent.is_dir():
        raise UsageError(f"there is no folder {target.parent}.")
    if target is not None and target.is_dir():
        raise UsageError(f"{target} is a folder.")
