"""Menus, dialogs, drawers and toasts of common libraries are in the first answer to the tap that opens them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.errors import BridgeError
from tests.conftest import LocalServer
from tests.interop.npm_pages import built_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCES = Path(__file__).parent / "library_menus"
LIBRARIES = ("antd", "bootstrap", "element", "headless", "mui", "shoelace")
#: What a tap on the control of that name shows.
SHOWN = {
    "City": ("Rome", "Oslo", "Lima"),
    "Menu": ("Copy", "Paste"),
    "Dialog": ("Delete it?",),
    "Drawer": ("Cheap ones",),
    "Toast": ("Saved well",),
}
#: Headless UI has no toasts.
UNKNOWN = {("headless", "Toast")}


@pytest.fixture(scope="module")
def libraries() -> Iterator[LocalServer]:
    with built_pages(SOURCES) as server:
        yield server


@pytest.mark.parametrize("library", LIBRARIES)
async def test_what_a_tap_opens_is_in_its_answer(webview_device: str, libraries: LocalServer, library: str) -> None:
    missing = []
    async with Session.open(webview_device, grants=[libraries.grant]) as session:
        page = await session.new_page()
        for control, words in SHOWN.items():
            if (library, control) in UNKNOWN:
                continue
            await page.goto(libraries.url(f"{library}.html"))
            if control == "City":
                tapped = page.locator(".el-select__wrapper")
                if library != "element":
                    tapped = page.get_by_role("combobox").or_(page.get_by_role("button", name="City")).first
            else:
                buttons = "sl-button" if library == "shoelace" else "button"
                tapped = page.locator(buttons, has_text=control).first
            await tapped.wait_for()
            try:
                result = await tapped.click()
            except BridgeError as error:
                missing.append(f"{control}: {error}: {error.details}")
                continue
            said = "\n".join((result.changes.text, *result.changes.texts))
            missing += [
                f"{control}: no {word} in {result.changes.settled}: {said}" for word in words if word not in said
            ]
    assert not missing, "\n\n".join(missing)
