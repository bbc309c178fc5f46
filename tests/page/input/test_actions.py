"""Every action by ref, on plain HTML controls."""

from __future__ import annotations

import time

import pytest

from bridge.errors import (
    Covered,
    InvalidValue,
    NoSuchOption,
    NotASelectElement,
    NotCheckable,
    NotEditable,
    NotUncheckable,
    RefNotFound,
    UsageError,
)
from bridge.page.page import Page
from bridge.snapshot import SnapshotResult
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


@pytest.fixture
async def controls(page: Page, local_server: LocalServer) -> Page:
    await page.goto(local_server.url("controls.html"))
    return page


@pytest.fixture
async def shot(controls: Page) -> SnapshotResult:
    return await controls.snapshot(interactive_only=False)


async def test_a_box_is_checked_by_one_tap_and_not_touched_again(controls: Page, shot: SnapshotResult) -> None:
    box = shot.find(role="checkbox", name="Opt in").ref
    first = await controls.check(box)
    assert (first.checked, first.cost.round_trips) == (True, 2)
    again = await controls.check(box)
    assert (again.checked, again.cost.round_trips) == (True, 1)
    assert "already checked" in again.changes.text
    assert (await controls.uncheck(box)).checked is False


async def test_a_switch_that_answers_late_is_waited_for(controls: Page, shot: SnapshotResult) -> None:
    assert (await controls.check(shot.find(role="switch", name="Late switch").ref)).checked is True


async def test_a_switch_that_stays_off_is_an_error_that_says_so(controls: Page, shot: SnapshotResult) -> None:
    with pytest.raises(NotCheckable, match="tapped and is still not checked"):
        await controls.check(shot.find(role="switch", name="Stubborn switch").ref)


async def test_what_cannot_be_checked_or_unchecked_is_refused_untouched(controls: Page, shot: SnapshotResult) -> None:
    with pytest.raises(NotCheckable):
        await controls.check(shot.find(name="Hold").ref)
    with pytest.raises(NotUncheckable, match="another"):
        await controls.uncheck(shot.find(role="radio", name="Two").ref)
    assert (await controls.check(shot.find(role="radio", name="One").ref)).checked is True
    await controls.uncheck(shot.find(role="radio", name="Two").ref)


async def test_a_refused_check_leaves_no_guard_behind(controls: Page, shot: SnapshotResult) -> None:
    await controls.check(shot.find(role="checkbox", name="Plain").ref)
    await controls.focus(shot.find(name="Opt in").ref)
    assert "Opt in" in (await controls.keyboard.press(" ")).changes.text


async def test_two_taps_are_a_double_click(controls: Page, shot: SnapshotResult) -> None:
    result = await controls.dblclick(shot.find(name="Twice").ref)
    assert "doubled" in result.changes.text
    assert result.cost.round_trips <= 2


async def test_a_long_press_is_a_context_menu_and_no_click(controls: Page, shot: SnapshotResult) -> None:
    result = await controls.long_press(shot.find(name="Hold").ref)
    assert "held" in result.changes.text
    assert "clicked" not in result.changes.text


async def test_hovering_opens_what_the_page_shows_on_hover(controls: Page, shot: SnapshotResult) -> None:
    await controls.hover(shot.find(name="Hover me").ref)
    assert "Tip shown" in (await controls.snapshot(interactive_only=False)).text


async def test_typing_goes_on_after_what_is_there_and_the_page_sees_the_keys(
    controls: Page, shot: SnapshotResult
) -> None:
    assert (await controls.type(shot.find(name="Name").ref, "Lovelace é")).value == "AdaLovelace é"
    upper = await controls.type(shot.find(name="Upper").ref, "ab c")
    assert upper.value == "AB C"
    assert "ab c" in upper.changes.text
    assert (await controls.keyboard.type("!")).ref is None
    assert (await controls.query(shot.find(name="Upper").ref, "value")).value == "AB C!"


async def test_a_typed_password_is_never_reported(controls: Page, shot: SnapshotResult) -> None:
    secret = shot.find(name="Secret").ref
    assert (await controls.type(secret, "hunter2")).value is None
    assert (await controls.query(secret, "value")).value is None


async def test_clearing_empties(controls: Page, shot: SnapshotResult) -> None:
    result = await controls.clear(shot.find(name="Name").ref)
    assert (result.value, result.cost.round_trips) == ("", 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("Day", "2026-02-28"), ("Hour", "13:45"), ("Tint", "#336699"), ("Volume", "7"), ("Count", "-2.5")],
)
async def test_inputs_with_a_form_of_their_own_take_it(
    controls: Page, shot: SnapshotResult, name: str, value: str
) -> None:
    assert (await controls.fill(shot.find(name=name).ref, value)).value == value


@pytest.mark.parametrize(
    ("name", "value", "wanted"), [("Day", "28.2.2026", "YYYY-MM-DD"), ("Hour", "noon", "HH:MM"), ("Tint", "red", "#rr")]
)
async def test_another_form_is_refused_and_the_right_one_named(
    controls: Page, shot: SnapshotResult, name: str, value: str, wanted: str
) -> None:
    with pytest.raises(InvalidValue, match=wanted):
        await controls.fill(shot.find(name=name).ref, value)


async def test_editable_content_is_replaced_and_typed_after(controls: Page, shot: SnapshotResult) -> None:
    note = shot.find(name="Note").ref
    assert (await controls.fill(note, "new words")).value == "new words"
    assert (await controls.type(note, " and more")).value == "new words and more"


async def test_a_readonly_input_takes_no_text(controls: Page, shot: SnapshotResult) -> None:
    with pytest.raises(NotEditable):
        await controls.type(shot.find(name="Fixed").ref, "x", timeout_s=0.5)
    option = await controls.locator("option").nth(0).ref()
    with pytest.raises(NotEditable):
        await controls.fill(option, "x", timeout_s=0.5)


async def test_what_can_never_take_text_is_refused_without_waiting(controls: Page) -> None:
    started = time.monotonic()
    with pytest.raises(NotEditable):
        await controls.locator("h1").fill("x", timeout_s=30)
    assert time.monotonic() - started < 15, "the 30 seconds are for what may become editable"


async def test_options_are_chosen_by_value_or_text_without_a_tap(controls: Page, shot: SnapshotResult) -> None:
    size = shot.find(role="combobox", name="Size").ref
    assert (await controls.select_option(size, "m")).values == ("Medium",)
    assert (await controls.select_option(size, "small")).values == ("Small",)
    several = await controls.select_option(shot.find(role="listbox", name="Toppings").ref, ["Ham", "Corn"])
    assert (several.values, several.cost.round_trips) == (("Ham", "Corn"), 1)


async def test_an_unknown_option_is_answered_with_those_there_are(controls: Page, shot: SnapshotResult) -> None:
    with pytest.raises(NoSuchOption) as caught:
        await controls.select_option(shot.find(role="combobox", name="Size").ref, "XL")
    assert caught.value.details["options"] == ["Small", "Medium", "Huge"]
    with pytest.raises(NotASelectElement):
        await controls.select_option(shot.find(name="Hold").ref, "x")


async def test_scrolling_says_when_there_is_no_further(controls: Page, shot: SnapshotResult) -> None:
    inside = shot.find(name="In the box").ref
    down = await controls.scroll("down", 400, ref=inside)
    assert (down.notices, down.cost.round_trips) == ((), 1)
    assert (await controls.scroll("up", ref=inside)).notices == ()
    assert "can scroll further left" in (await controls.scroll("left")).notices[0]
    await controls.scroll("down", 5_000)
    with pytest.raises(UsageError):
        await controls.scroll("sideways")  # type: ignore[arg-type]


async def test_scrolling_into_view_brings_it_there(controls: Page, shot: SnapshotResult) -> None:
    bottom = shot.find(name="Bottom").ref
    await controls.scroll_into_view_if_needed(bottom)
    box = (await controls.query(bottom, "box")).value
    assert 0 <= box["top"] <= 915


async def test_a_finger_drags_by_pixels(controls: Page, shot: SnapshotResult) -> None:
    result = await controls.drag_and_drop(shot.find(name="Knob").ref, by=(120, 0))
    assert "knob at 120" in result.changes.text


async def test_what_html_calls_draggable_is_dropped_on_its_goal(controls: Page, shot: SnapshotResult) -> None:
    result = await controls.drag_and_drop(shot.find(name="Card").ref, shot.find(name="Bin").ref)
    assert "dropped card" in result.changes.text
    assert "by script" in result.notices[0]


async def test_a_swipe_scrolls_the_page_as_a_finger_does(controls: Page, shot: SnapshotResult) -> None:
    bottom = shot.find(name="Bottom").ref
    before = (await controls.query(bottom, "box")).value["top"]
    await controls.swipe("up", distance_px=300)
    assert (await controls.query(bottom, "box")).value["top"] < before - 100


async def test_two_fingers_zoom(controls: Page) -> None:
    await controls.pinch(2.0)
    attachment = await controls.attached()
    main = attachment.state.main
    assert main is not None
    assert await attachment.evaluate(main.frame_id, "visualViewport.scale", timeout_s=20) > 1.3


async def test_an_element_is_read_by_kind_and_cut_at_the_limit(controls: Page, shot: SnapshotResult) -> None:
    hold = shot.find(name="Hold").ref
    assert (await controls.query(hold, "text")).value == "Hold"
    assert (await controls.query(hold, "attributes")).value == {"id": "hold"}
    assert (await controls.query(hold, "styles")).value["visibility"] == "visible"
    cut = await controls.query(hold, "html", 10)
    assert (cut.truncated, cut.value.endswith("...[truncated]"), cut.cost.round_trips) == (True, True, 1)
    with pytest.raises(UsageError):
        await controls.query(hold, "everything")  # type: ignore[arg-type]


async def test_a_dead_ref_brings_a_fresh_snapshot_where_that_is_asked_for(
    controls: Page, shot: SnapshotResult, local_server: LocalServer
) -> None:
    hold = shot.find(name="Hold").ref
    await controls.goto(local_server.url("second.html"))
    with pytest.raises(RefNotFound) as bare:
        await controls.click(hold)
    assert "snapshot" not in bare.value.details
    controls.snapshot_on_dead_ref = True
    with pytest.raises(RefNotFound) as helped:
        await controls.click(hold)
    assert "[snapshot] url=" in helped.value.details["snapshot"]
    assert "second.html" in helped.value.details["snapshot"]


async def test_a_tap_that_an_overlay_cuts_short_is_an_error_and_the_overlay_gets_no_click(controls: Page) -> None:
    """A menu that opens where it was asked for must not take the same tap for a choice."""
    attachment = await controls.attached()
    overlay = """(() => {
      const button = document.body.appendChild(document.createElement('button'));
      button.textContent = 'Opens at once';
      button.onpointerdown = () => {
        const veil = document.body.appendChild(document.createElement('div'));
        veil.id = 'veil';
        veil.style.cssText = 'position:fixed;top:0;left:0;right:0;bottom:0';
        veil.onclick = () => { veil.textContent = 'chosen by accident'; };
      };
    })()"""
    await attachment.call("Runtime.evaluate", {"expression": overlay}, timeout_s=20)
    ref = (await controls.snapshot()).find(name="Opens at once").ref
    with pytest.raises(Covered, match="div#veil appeared over it during the tap; the tap was cancelled") as cut_short:
        await controls.click(ref)
    assert cut_short.value.details["changes"]["settled"] == "quiet"
    assert "chosen by accident" not in (await controls.snapshot(interactive_only=False)).text
