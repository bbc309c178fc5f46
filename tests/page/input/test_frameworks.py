"""Pages that real frameworks draw: what they do between a snapshot and an action must not matter to a user."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session, expect
from bridge.errors import RefNotFound, StaleRef
from bridge.page.page import Page
from bridge.surfaces.pytest_plugin.local_server import serving
from tests.conftest import LocalServer
from tests.page.input.framework_pages import FRAMEWORKS, CannotBuild, built_pages

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def framework_server() -> Iterator[LocalServer]:
    try:
        folder = built_pages()
    except CannotBuild as error:
        pytest.skip(str(error))
    with serving(folder) as server:
        yield server


@pytest.fixture(params=FRAMEWORKS)
async def app(
    request: pytest.FixtureRequest, webview_device: str, framework_server: LocalServer, tmp_path: Path
) -> AsyncIterator[Page]:
    async with Session.open(webview_device, grants=[framework_server.grant], uploads_root=tmp_path) as session:
        page = await session.new_page(framework_server.url(f"{request.param}.html"))
        await expect(page.get_by_role("main")).to_be_visible()
        yield page


async def test_controlled_inputs_take_what_is_filled_and_typed(app: Page) -> None:
    shot = await app.snapshot()
    name = shot.find(role="textbox", name="Name").ref
    assert (await app.fill(name, "ada")).value == "ADA"
    await expect(app.get_by_text("Hello ADA")).to_be_visible()
    assert (await app.type(name, " love")).value == "ADA LOVE"
    await expect(app.get_by_text("Hello ADA LOVE")).to_be_visible()
    assert (await app.clear(name)).value == ""


async def test_a_controlled_box_enables_what_depends_on_it(app: Page) -> None:
    shot = await app.snapshot()
    send = shot.find(role="button", name="Send").ref
    assert (await app.check(shot.find(role="checkbox", name="Agree").ref)).checked is True
    assert "sent" in (await app.click(send)).changes.text
    await app.uncheck(shot.find(role="checkbox", name="Agree").ref)
    await expect(app.get_by_role("button", name="Send")).to_be_disabled()


async def test_a_debounced_search_is_waited_for_by_what_it_finds(app: Page) -> None:
    city = (await app.snapshot()).find(role="searchbox", name="City").ref
    await app.type(city, "ber")
    await expect(app.get_by_role("list", name="Cities").get_by_role("button")).to_have_text(
        ["Berlin", "Bern", "Bergen"]
    )
    await app.get_by_role("button", name="Bern", exact=True).click()
    await expect(app.get_by_role("status")).to_have_text("city Bern")


async def test_a_recycled_row_is_not_mistaken_for_the_one_that_was_shown(app: Page) -> None:
    shot = await app.snapshot()
    pick = [ref for ref, node in shot.refs.items() if node.name == "Pick"]
    assert "picked row 1" in (await app.click(pick[1])).changes.text
    await app.scroll("down", 4_000, ref=pick[0])
    await expect(app.get_by_text("Row 101", exact=True)).to_be_visible()
    with pytest.raises((StaleRef, RefNotFound)):
        await app.click(pick[0], timeout_s=1)
    await expect(app.get_by_role("status")).to_have_text("picked row 1")
    row = app.get_by_role("listitem").filter(has_text="Row 101")
    await row.get_by_role("button").click()
    await expect(app.get_by_role("status")).to_have_text("picked row 101")


async def test_a_dialog_in_a_portal_is_part_of_the_page(app: Page) -> None:
    opened = await app.click((await app.snapshot()).find(name="Open dialog").ref)
    assert 'button "Confirm"' in opened.changes.text
    await app.click((await app.snapshot()).find(name="Confirm").ref)
    await expect(app.get_by_role("status")).to_have_text("confirmed")
    await expect(app.get_by_role("dialog")).to_be_hidden()


async def test_a_finger_sorts_a_list(app: Page) -> None:
    shot = await app.snapshot()
    await app.drag_and_drop(shot.find(role="button", name="Cedar").ref, shot.find(role="button", name="Apple").ref)
    await expect(app.get_by_role("list", name="Trees").get_by_role("button")).to_have_text(["Cedar", "Apple", "Birch"])


async def test_a_date_is_chosen_from_a_calendar(app: Page) -> None:
    await app.get_by_role("button", name="Choose date").click()
    await app.get_by_role("button", name="2026-02-14").click()
    await expect(app.get_by_label("Date", exact=True)).to_have_value("2026-02-14")


async def test_rich_text_is_written_as_a_person_writes_it(app: Page) -> None:
    essay = (await app.snapshot()).find(role="textbox", name="Essay").ref
    await app.fill(essay, "three little words")
    await expect(app.get_by_text("3 words")).to_be_visible()
    await app.type(essay, " and more")
    await expect(app.get_by_text("5 words")).to_be_visible()


async def test_several_options_are_chosen_in_a_controlled_select(app: Page) -> None:
    tags = (await app.snapshot()).find(role="listbox", name="Tags").ref
    assert (await app.select_option(tags, "red", "blue")).values == ("red", "blue")
    await expect(app.get_by_text("Tags: red+blue")).to_be_visible()


async def test_a_framework_sees_the_uploaded_file(app: Page, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("words")
    attach = (await app.snapshot()).find(name="Attach").ref
    assert "file notes.txt" in (await app.set_input_files(attach, "notes.txt")).changes.text
    await expect(app.get_by_role("status")).to_have_text("file notes.txt")


async def test_scrolling_to_the_end_of_a_feed_brings_more(app: Page) -> None:
    feed = app.get_by_role("region", name="Feed")
    for last in (9, 19, 29):
        await feed.get_by_text(f"Story {last}", exact=True).scroll_into_view_if_needed()
        await feed.get_by_text("…", exact=True).scroll_into_view_if_needed()
        await expect(feed.get_by_text(f"Story {last + 10}", exact=True)).to_be_attached()


async def test_a_navigation_within_the_app_is_reported_as_a_change_of_address(app: Page) -> None:
    moved = await app.click((await app.snapshot()).find(role="link", name="About").ref)
    assert moved.changes.url is not None
    assert moved.changes.url.endswith("#/about")
    await expect(app.get_by_role("heading", name="About us")).to_be_visible()


async def test_a_button_that_comes_alive_late_counts_once_it_has(app: Page) -> None:
    await expect(app.get_by_text("hydrated")).to_be_visible()
    result = await app.get_by_role("button", name="Add to 5").click()
    assert "Add to 6" in result.changes.text
