"""Menus, dialogs, drawers and toasts of common libraries are in the first answer to the tap that opens them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.errors import BridgeError
from bridge.surfaces.pytest_plugin.local_server import serving
from tests.conftest import LocalServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "library_menus"
CACHE = ROOT / ".cache" / "library_menus"
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
    """A server of the pages, which are built from npm packages where that is not done yet."""
    sources = sorted(path for path in SOURCES.rglob("*") if path.is_file())
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    stamp, pages = CACHE / "stamp", CACHE / "pages"
    if not stamp.exists() or stamp.read_text() != wanted:
        if not shutil.which("npm"):
            pytest.skip("npm builds the pages, and it is not there")
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCES / "package.json", CACHE)
        install = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        for command in (install, ("node", str(SOURCES / "build.mjs"), str(CACHE / "node_modules"), str(pages))):
            done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=500, check=False)
            if done.returncode:
                pytest.skip(f"{' '.join(command[:2])} ended with {done.returncode}: {done.stderr[-800:]}")
        stamp.write_text(wanted)
    with serving(pages) as server:
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
