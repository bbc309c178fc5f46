"""Controls of common component libraries have refs in the default snapshot, and the refs operate them.

The outcome is the table of docs/libraries.md; `UPDATE_GOLDEN=1` writes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.deadline import Deadline
from bridge.errors import BridgeError, RefNotFound, StaleRef
from bridge.page.page import Page
from bridge.snapshot import SnapshotResult
from tests.conftest import LocalServer
from tests.interop.npm_pages import built_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCES = Path(__file__).parent / "library_controls"
TABLE = Path(__file__).parents[2] / "docs" / "libraries.md"
#: How long the last control of a page may take to be there.
_READY_S = 5.0
#: Libraries that tell a role only to the engine (ElementInternals) or give none at all show such controls as generic.
_GENERIC = ("generic",)
#: By the name of a control: its roles, the page's word for it, and what the page is told when it was operated.
CONTROLS: dict[str, tuple[tuple[str, ...], str, object]] = {
    "Save": (("button", *_GENERIC), "Save", True),
    "Agree": (("checkbox",), "Agree", True),
    "Wifi": (("switch", "checkbox"), "Wifi", True),
    "Blue": (("radio", *_GENERIC), "Colour", "blue"),
    "Name": (("textbox",), "Name", "Ann"),
    "City": (("combobox", "button"), "City", "Oslo"),
    "Volume": (("slider",), "Volume", "70"),
    "Second": (("tab", *_GENERIC), "Tab", "second"),
}
#: Not part of the library, or not put on its page.
ABSENT = {
    "headless": ("Save", "Name", "Volume"),
    "jquery-ui": ("Wifi",),
    "radix": ("Save", "Name"),
    "react-native-web": ("City", "Volume"),
}
#: What has no ref by its name, and why.
KNOWN: dict[tuple[str, str], str] = {
    ("jquery-ui", "City"): "no name: the widget takes the label from the list",
    ("jquery-ui", "Volume"): "no role, no name",
    ("material-web", "Agree"): "no name: the label names the host, and the role is in the shadow tree",
    ("material-web", "Wifi"): "no name: the label names the host, and the role is in the shadow tree",
    ("vuetify", "Volume"): "no name: the label names another input",
}


@pytest.fixture(scope="module")
def libraries() -> Iterator[LocalServer]:
    with built_pages(SOURCES) as server:
        yield server


def ref_of(shot: SnapshotResult, roles: tuple[str, ...], name: str) -> str | None:
    return next((ref for ref, node in shot.refs.items() if node.role in roles and node.name.startswith(name)), None)


async def operated(page: Page, name: str) -> str:
    """How a control was operated: "yes", or what went wrong. A ref that went stale is looked up once more."""
    try:
        return await operated_once(page, name)
    except (StaleRef, RefNotFound):
        return await operated_once(page, name)


async def operated_once(page: Page, name: str) -> str:
    roles, key, wanted = CONTROLS[name]
    shot = await page.snapshot()
    ref = ref_of(shot, roles, name)
    if ref is None:
        return "no ref"
    role = shot.refs[ref].role
    try:
        if role in ("checkbox", "radio", "switch"):
            await page.check(ref)
        elif role in ("textbox", "slider"):
            await page.fill(ref, str(wanted))
        else:
            await page.click(ref)
            if name == "City":
                options = ("option", "menuitem", "radio", "link", "button", *_GENERIC)
                option, ready = None, Deadline.after(_READY_S)
                while option is None and not ready.passed:
                    option = ref_of(await page.snapshot(), options, "Oslo")
                if option is None:
                    return "no option"
                await page.click(option)
        await page.wait_for_function(f"said[{key!r}] !== undefined", timeout_s=3)
    except (StaleRef, RefNotFound):
        raise
    except BridgeError as error:
        return str(error)
    told = await page.evaluate(f"said[{key!r}]")
    return "yes" if str(told) == str(wanted) else f"told {told!r}"


async def test_every_control_of_a_library_is_operated_by_its_ref(webview_device: str, libraries: LocalServer) -> None:
    names = sorted(path.name.split(".")[0] for path in (SOURCES / "src").iterdir())
    rows, failures = [], []
    async with Session.open(webview_device, grants=[libraries.grant]) as session:
        page = await session.new_page()
        for library in names:
            await page.goto(libraries.url(f"{library}.html"))
            ready = Deadline.after(_READY_S)
            is_there = False
            while not is_there and not ready.passed:
                is_there = ref_of(await page.snapshot(), CONTROLS["Second"][0], "Second") is not None
            outcomes = []
            for name in CONTROLS:
                if name in ABSENT.get(library, ()):
                    outcomes.append("–")
                    continue
                outcome = await operated(page, name)
                known = KNOWN.get((library, name))
                if (outcome == "yes") == bool(known):
                    failures.append(f"{library}: {name}: {outcome}")
                outcomes.append(known or outcome)
            rows.append(f"| {library} | " + " | ".join(outcomes) + " |")
    assert not failures, "\n".join(failures)
    heads = [f"| Library | {' | '.join(CONTROLS)} |", "|---" * (len(CONTROLS) + 1) + "|"]
    table = "\n".join((*heads, *rows)) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        intro = TABLE.read_text().partition("| Library")[0]
        TABLE.write_text(intro + table)
    assert table in TABLE.read_text()
