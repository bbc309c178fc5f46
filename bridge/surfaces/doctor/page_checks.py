"""Device checks of what pages do beside their document: dialogs, windows, service workers, cookies in frames."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from bridge.page.target.page_state import Dialog
from bridge.surfaces.doctor.device_check import Bench, DeviceCheck
from bridge.surfaces.doctor.report import CheckResult, Stakes, failed, passed

_WORKER_S = 12.0
_PROMPTED = "Ada"


def page_checks(bench: Bench) -> list[DeviceCheck]:
    """Dialogs of each kind, a popup, a service worker, a third-party cookie."""
    dialogs = "results report a different answer from the one that the page received"
    # The answer that the session gives, and what the page gets of it.
    answered: dict[str, tuple[bool | str, Any]] = {
        "alert": (True, "undefined"),
        "confirm": (True, True),
        "prompt": (_PROMPTED, _PROMPTED),
    }

    def answers(kind: str, given: bool | str, got: Any) -> Callable[[], Awaitable[CheckResult]]:
        return lambda: _dialog(bench, kind, given, got)

    return [
        *(
            DeviceCheck(f"dialog: {kind}", Stakes("dialogs", dialogs), answers(kind, *pair))
            for kind, pair in answered.items()
        ),
        DeviceCheck("dialog: beforeunload", Stakes("dialogs", dialogs), lambda: _beforeunload(bench)),
        DeviceCheck(
            "popup", Stakes("popups", "windows that pages open are lost: sign-in by popup fails"), lambda: _popup(bench)
        ),
        DeviceCheck(
            "service worker",
            Stakes("service workers", "pages with a service worker hang or work without it"),
            lambda: _worker(bench),
        ),
        DeviceCheck(
            "third-party cookie",
            Stakes("embedded sign-in and payment", "frames of other sites lose their cookies, unlike in mobile Chrome"),
            lambda: _third_party(bench),
        ),
    ]


async def _dialog(bench: Bench, kind: str, given: bool | str, expected: Any) -> CheckResult:
    """Compares what the page got with what the result says."""
    page = bench.page
    await page.goto(bench.server.url("events"))
    page.answer_dialogs(lambda _dialog: given)
    try:
        result = await page.click((await page.snapshot()).find(name=kind.capitalize()).ref)
    finally:
        page.answer_dialogs("default")
    said = await bench.evaluate("said")
    reported = [*result.changes.dialogs, *result.notices]
    finding = (
        f"the page got {said[1] if len(said) == 2 else said!r}; the result says {'; '.join(reported) or 'nothing'}"
    )
    if said != [kind, expected]:
        return failed(f"{finding}; {expected!r} was answered")
    return passed(finding) if any(kind in text for text in reported) else failed(f"{finding}: the dialog is not in it")


async def _beforeunload(bench: Bench) -> CheckResult:
    page = bench.page
    await page.goto(bench.server.url("events"))
    asked: list[str] = []

    def accept(dialog: Dialog) -> bool:
        asked.append(dialog.kind)
        return True

    page.answer_dialogs(accept)
    try:
        await page.click((await page.snapshot()).find(name="Guard").ref)
        found = await page.goto(bench.server.url("form"))
    finally:
        page.answer_dialogs("default")
    finding = f"leaving the page asked {', '.join(asked) or 'nothing'}, and {found.title!r} opened"
    return passed(finding) if asked == ["beforeunload"] and found.title == "Form" else failed(finding)


async def _popup(bench: Bench) -> CheckResult:
    page = bench.page
    await page.goto(bench.server.url("events"))
    ref = (await page.snapshot()).find(name="Open a window").ref
    async with page.expect_popup() as info:
        await page.click(ref)
    popup = await info.value
    try:
        title = await popup.title()
        has_opener = await bench.evaluate("!!opener", page=popup)
    finally:
        await popup.close()
    finding = f"the window {title!r} opened, {'with' if has_opener else 'without'} its opener"
    return passed(finding) if title == "Inner" and has_opener else failed(finding)


async def _worker(bench: Bench) -> CheckResult:
    page = bench.page
    await page.goto(bench.server.url("worker"))
    try:
        state = await bench.evaluate("whenReady()", timeout_s=_WORKER_S)
        await page.goto(bench.server.url("worker"), timeout_s=_WORKER_S)
        got = await bench.evaluate("fetch('/from-worker').then((it) => it.text())", timeout_s=_WORKER_S)
    finally:
        await bench.evaluate("forget()")
    finding = f"the worker is {state}; a page that it controls received {got!r}"
    return passed(finding) if got == "from the worker" else failed(finding)


async def _third_party(bench: Bench) -> CheckResult:
    await bench.page.goto(bench.server.url("embedder"))
    cookie = await bench.evaluate("thirdPartyCookie()")
    if "third=party" in cookie:
        return passed("a frame of another site keeps its cookie")
    return failed(f"a frame of another site has the cookie {cookie!r} instead of 'third=party'")
