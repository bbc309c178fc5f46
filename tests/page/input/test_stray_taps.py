"""A tap goes to the document that it was prepared in, or to none; and the guard on it hears of it before the page."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.deadline import Deadline
from bridge.page.input.touch import tap_commands, touch
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import in_page

pytestmark = pytest.mark.browser

EVENTS = "pointerdown touchstart pointerup touchend mousedown mouseup click"
HEAR = f"""globalThis.heard=[];for(const type of '{EVENTS}'.split(' '))
  addEventListener(type,(e)=>e.target.localName=='button'&&heard.push(type),true)"""


@pytest.fixture
async def listening(page: Page, local_server: LocalServer) -> Page:
    """A page that listens on its window before anybody has looked at it."""
    await page.add_init_script(HEAR)
    await page.goto(local_server.url("fuzz.html"))
    return page


async def prepared(page: Page) -> tuple[float, float]:
    """Where a tap on the first button would go; the guard waits for it."""
    ref = next(ref for ref, node in (await page.snapshot()).refs.items() if node.tag == "button")
    actions = page._operations.attached.actions
    x, y, _ = await actions.point(actions.look_up(ref), "click", Deadline.after(10))
    return x, y


async def send(page: Page, *commands: tuple[str, dict[str, Any]]) -> None:
    await page._operations.attached.actions.send(commands, "a tap", Deadline.after(10))
    # Input overtakes scripts; after two frames what it brings has come.
    await page.wait_for(function="new Promise((done)=>setTimeout(done,100)).then(()=>true)", timeout_s=10)


async def test_a_tap_prepared_in_an_earlier_document_has_no_effect(listening: Page) -> None:
    x, y = await prepared(listening)
    await listening.reload()
    await send(listening, *tap_commands(x, y))
    assert await in_page(listening, "heard.join(' ')") == ""


async def test_a_tap_whose_finger_came_down_in_the_document_before_does_not_click(listening: Page) -> None:
    x, y = await prepared(listening)
    down, up = touch("touchStart", (x, y)), touch("touchEnd")
    await send(listening, down)
    await listening.reload()
    await send(listening, up)
    assert "click" not in await in_page(listening, "heard.join(' ')")


async def test_a_finger_that_is_not_the_bridges_is_never_kept_off(listening: Page) -> None:
    x, y = await prepared(listening)
    await listening.reload()
    await send(listening, touch("touchStart", (x, y)), touch("touchEnd"))
    assert await in_page(listening, "heard.join(' ')") == EVENTS


async def test_no_listener_of_the_page_gets_events_that_the_guard_stops(listening: Page) -> None:
    x, y = await prepared(listening)
    await in_page(listening, f"document.elementFromPoint({x},{y}).closest('button').textContent='Something else'")
    await send(listening, *tap_commands(x, y))
    assert await in_page(listening, "heard.join(' ')") == ""
    assert await in_page(listening, "document.activeElement.localName") == "body"
