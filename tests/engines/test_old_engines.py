"""What a page and a session do on every engine from the oldest supported one on."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

ALL_EVENTS = "pointerdown touchstart pointerup touchend mousedown mouseup click"


async def press(page: Page, name: str, **wanted: str) -> None:
    await page.click((await page.snapshot()).find(name=name, **wanted).ref)


async def test_a_page_with_frames_is_read_and_acted_on(session: Session, site: LocalServer, tmp_path: Path) -> None:
    page = await session.new_page(site.url("index.html"))
    await page.wait_for(text="Framed")

    await press(page, "Press")
    assert ALL_EVENTS in (await page.snapshot()).text

    await press(page, "Framed", role="button")
    await press(page, "Shadowed")
    await page.check((await page.snapshot()).find(role="checkbox").ref)
    await page.fill((await page.snapshot()).find(name="Name").ref, "Ada")
    await page.select_option((await page.snapshot()).find(name="Size").ref, "Large")
    await press(page, "More")
    text = (await page.snapshot()).text
    for words in ("Framed, pressed", "Shadowed, pressed", "[checked]", '"Ada"', '"Large"', 'button "Inside"'):
        assert words in text

    await page.download("file.txt", ref=(await page.snapshot()).find(name="File").ref)
    assert await asyncio.to_thread((tmp_path / "file.txt").read_text) == "downloaded\n"

    async with page.expect_popup() as popup:
        await press(page, "Popup")
    assert "In the popup" in (await (await popup.value).snapshot()).text

    await press(page, "Next")
    await page.wait_for(text="The next page")
    assert "long enough to be read" in (await page.read()).markdown
    await page.go_back()
    assert (await page.snapshot()).find(name="Press")


@pytest.mark.parametrize("answer", ["accept", "dismiss"])
async def test_the_page_gets_the_answer_to_its_dialogs(session: Session, site: LocalServer, answer: str) -> None:
    page = await session.new_page(site.url("index.html"))
    page.answer_dialogs(answer)
    result = await page.click((await page.snapshot()).find(name="Ask").ref)
    done = "accepted" if answer == "accept" else "dismissed"
    assert len(result.changes.dialogs) == 2
    assert all(done in dialog for dialog in result.changes.dialogs)
    expected = "true nobody" if answer == "accept" else "false null"
    assert expected in (await page.snapshot()).text


async def test_workers_of_a_page_run(session: Session, site: LocalServer) -> None:
    page = await session.new_page(site.url("worker.html"))
    await page.wait_for(text="made by the service worker")
    await page.wait_for(text="the worker ran")
    await page.reload()
    await page.wait_for(text="made by the service worker")


ROOT = Path(__file__).parents[2]
SHIPPED = (*ROOT.glob("injected_js/src/**/*.js"), *ROOT.glob("bridge/page/**/*.js"), *ROOT.glob("bridge/page/**/*.py"))
_SELECTOR = re.compile(r"""\b(?:matches|closest|findAll|querySelector(?:All)?)\([^'"`)]*(['"])((?:(?!\1).)+)\1""")
# Scripts try these and do without.
OPTIONAL = {"select:open", "select:open,input:open"}


async def test_the_engine_parses_every_selector_of_the_scripts(session: Session) -> None:
    selectors = {match[2].lstrip(",") for path in SHIPPED for match in _SELECTOR.finditer(path.read_text())} - OPTIONAL
    assert len(selectors) > 30
    page = await session.new_page()
    invalid = await in_page(
        page, f"{json.dumps(sorted(selectors))}.filter(it=>{{try{{document.body.matches(it)}}catch(e){{return true}}}})"
    )
    assert invalid == []


async def test_the_capabilities_are_those_of_a_current_engine(session: Session) -> None:
    await session.new_page()
    found = session.capabilities
    assert found is not None
    assert (found.capture, found.isolated_worlds, found.fetch_interception) == ("cdp", True, True)
    assert all((found.file_input, found.emulation, found.screencast, found.focus_emulation))


async def test_what_css_zoom_enlarges_is_tapped_and_outlined_where_it_is_seen(
    session: Session, site: LocalServer
) -> None:
    page = await session.new_page(site.url("zoomed.html"))
    shot = await page.snapshot(boxes=True)
    go = shot.find(name="Go")
    left, top, width, height = map(int, re.findall(rf"\[box=([-\d,]+)\] \[ref={go.ref}\]", shot.text)[0].split(","))
    await page.click(go.ref)
    after = await page.snapshot()
    assert "Gone" in after.text
    x, y = map(int, after.title.split(","))
    assert left <= x <= left + width
    assert top <= y <= top + height
    drawn = await page.screenshot(annotate=True)
    box = next(box for box in drawn.legend if box.ref == after.find(name="Gone").ref)
    outlined = box.x_px, box.y_px, box.width_px, box.height_px
    assert outlined == pytest.approx([side * drawn.scale for side in (left, top, width, height)], abs=40)
