"""Out-of-process frames (Chrome with isolated sites) are parts of the page like any others."""

from __future__ import annotations

import io
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from PIL import Image

from bridge import Session, expect
from bridge.deadline import Deadline
from bridge.errors import ActionFailed, DeadlineExceeded, ExpectationFailed, Unsupported, UsageError
from bridge.page.fetch_messages import Fulfil
from bridge.page.input.keyboard import focus
from bridge.page.input.keys import typing_commands
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from bridge.session.attached.session import AttachedSession
from bridge.surfaces.live_view.messages import Choice, Touch
from bridge.surfaces.live_view.touch_input import TouchInput
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


@pytest.fixture
async def session(device: VirtualDeviceHandle, local_server: LocalServer) -> AsyncIterator[AttachedSession]:
    async with Session.attach(
        "com.android.chrome",
        activity="com.google.android.apps.chrome.Main",
        data=local_server.url("isolated/top.html"),
        url="**/isolated/top.html*",
        device=device.serial,
        grants=[local_server.grant, TestServerGrant("localhost", local_server.port)],
    ) as attached:
        yield attached


@pytest.fixture
async def page(session: AttachedSession) -> Page:
    (page,) = session.pages
    await page.wait_for(text="Inner button")
    return page


async def own_renderers(page: Page) -> int:
    return len((await page.attached()).oopif_sessions.sessions)


async def test_a_snapshot_contains_frames_in_other_renderers(page: Page) -> None:
    shot = await page.snapshot(interactive_only=False)
    assert await own_renderers(page) == 2
    assert shot.find(role="button", name="Isolated button")
    assert shot.find(role="button", name="Inner button")  # the site of the top frame, nested in the other site
    assert "frames" not in shot.stats.truncate_reasons


async def test_controls_in_another_renderer_are_clicked_and_filled(page: Page) -> None:
    shot = await page.snapshot()
    clicked = await page.click(shot.find(role="button", name="Isolated button").ref)
    assert "Isolated clicked true" in clicked.changes.text
    filled = await page.fill(shot.find(role="textbox", name="Isolated field").ref, "all of it")
    assert filled.value == "all of it"
    typed = await page.type(shot.find(role="textbox", name="Isolated field").ref, " and more")
    assert typed.value == "all of it and more"
    assert (await page.check(shot.find(role="checkbox", name="Isolated box").ref)).checked
    inner = await page.click(shot.find(role="button", name="Inner button").ref)
    assert "Inner clicked true" in inner.changes.text
    assert (await page.get_by_label("Inner field").fill("deep")).value == "deep"


async def test_keys_open_no_picker_in_another_renderer_and_are_not_intercepted_by_it(page: Page) -> None:
    add = "el=>el.insertAdjacentHTML('afterend','<select><option>Ham<option>Large</select>')"
    attachment = await page.attached()
    isolated = next(f.frame_id for f in attachment.state.ordered_frames() if f.session_id)

    async def run(expression: str) -> Any:
        return await attachment.evaluate(isolated, expression, timeout_s=20)

    await run(f"({add})(document.querySelector('button')),document.querySelector('select').focus()")
    with pytest.raises(Unsupported, match="tapping a <select> opens a system dialog"):
        await page.keyboard.press("Enter", timeout_s=600)
    await page.keyboard.press("ArrowDown")
    assert await run("document.querySelector('select').value") == "Large"
    shot = await page.snapshot()
    actions, deadline = page._operations.attached.actions, Deadline.after(30)
    assert actions is not None
    entry = actions.look_up(shot.find(role="textbox", name="Inner field").ref)
    await focus(actions, entry, deadline, action="type")
    await run("document.querySelector('select').focus()")
    await actions.send(typing_commands("h"), "typing", deadline)
    settled = await actions.send_and_settle(entry, [], 1.0, deadline)
    with pytest.raises(ActionFailed, match="select in another frame took the focus"):
        actions.checks.check_keys(entry, settled)
    assert await run("document.querySelector('select').value") == "Large"


async def test_a_picker_that_a_frame_in_another_renderer_opens_is_reported(page: Page) -> None:
    attachment = await page.attached()
    main = attachment.state.main
    assert main is not None
    html = "<button>Choose</button><select><option>Ham</select>"
    shows = "document.querySelector('select').showPicker()"
    await attachment.evaluate(
        main.frame_id,
        f"document.body.insertAdjacentHTML('afterbegin','{html}'),"
        f"document.querySelector('button').addEventListener('click',()=>{shows})",
        timeout_s=20,
    )
    (notice,) = (await page.click((await page.snapshot()).find(role="button", name="Choose").ref)).notices
    assert "the page opened the system dialog of a <select>" in notice


async def test_an_element_in_another_renderer_is_captured(page: Page) -> None:
    shot = await page.snapshot()
    taken = await page.screenshot(ref=shot.find(role="button", name="Red").ref, scale="css")
    picture = Image.open(io.BytesIO(taken.image_bytes)).convert("RGB")
    assert picture.size == (60, 30)
    assert picture.crop((2, 2, 58, 28)).getcolors() == [(56 * 26, (255, 0, 0))]


async def test_a_frame_in_another_renderer_navigates_and_is_removed(page: Page, local_server: LocalServer) -> None:
    old = (await page.snapshot()).find(role="link", name="Next").ref
    await page.click(old)
    shot = await page.snapshot(interactive_only=False)
    assert shot.find(role="button", name="Isolated button").ref != old
    assert await own_renderers(page) == 1
    await page.goto(local_server.url("second.html"))
    assert await own_renderers(page) == 0
    shot = await page.snapshot(interactive_only=False)
    assert "Isolated" not in shot.text
    await page.go_back()
    await page.wait_for(text="Isolated button")


async def test_nested_frames_of_other_renderers_are_gone_after_a_navigation(
    page: Page, local_server: LocalServer
) -> None:
    assert await own_renderers(page) == 2
    await page.goto(local_server.url("second.html"))
    attachment = await page.attached()
    assert attachment.oopif_sessions.sessions == {} == attachment.connection.sessions
    assert len(attachment.state.frames) == 1
    assert {world.session_id for world in attachment.state.contexts.values()} == {None}


async def test_a_renderer_that_ends_silently_does_not_change_interception(
    page: Page, local_server: LocalServer
) -> None:
    # Commands sent before the end of the renderer is known.
    (await page.attached()).oopif_sessions.sessions["4B1D"] = "gone"
    await page.route("**/second.html", Fulfil(418))
    load = (await page.snapshot()).find(role="button", name="Load").ref
    assert "loaded 418" in (await page.click(load)).changes.text


async def test_both_logs_contain_entries_of_another_renderer(session: AttachedSession, page: Page) -> None:
    await page.reload()
    assert "isolated page speaks" in [entry.text for entry in page.console().entries]
    await page.click((await page.snapshot()).find(role="button", name="Load").ref)
    asked = [entry for entry in page.network().entries if entry.url.endswith("/second.html")]
    assert [entry.status for entry in asked] == [200]


async def test_requests_of_another_renderer_are_judged_and_routed(page: Page) -> None:
    await page.route("**/second.html", Fulfil(418))
    load = (await page.snapshot()).find(role="button", name="Load").ref
    assert "loaded 418" in (await page.click(load)).changes.text


async def test_init_scripts_run_first_in_another_renderer(page: Page) -> None:
    await page.add_init_script("console.log('first of all in ' + location.pathname)")
    await page.reload()
    texts = [entry.text for entry in page.console().entries]
    assert texts.count("first of all in /isolated/inner.html") == 1
    assert texts.index("first of all in /isolated/inner.html") < len(texts) - 1 - texts[::-1].index(
        "isolated page speaks"
    )


async def isolated_frame(page: Page) -> tuple[str, str]:
    """The frame's id and its session id."""
    attachment = await page.attached()
    frames = attachment.state.frames
    (found,) = (
        (frame_id, session_id)
        for session_id, frame_id in attachment.oopif_sessions.sessions.items()
        if "/isolated/" in frames[frame_id].url
    )
    return found


async def test_the_policy_refuses_requests_of_another_renderer(page: Page) -> None:
    attachment = await page.attached()
    frame_id, _ = await isolated_frame(page)
    await attachment.evaluate(frame_id, "fetch('http://localhost:1/').catch(String)", timeout_s=20)
    assert ["BLOCKED" in entry.failure for entry in page.network().entries if entry.url == "http://localhost:1/"] == [
        True
    ]


async def test_a_frame_whose_renderer_crashed_is_reported_missing_and_comes_back(page: Page) -> None:
    attachment = await page.attached()
    frame_id, session_id = await isolated_frame(page)
    attachment.connection.send("Page.crash", session_id=session_id).abandon()
    assert await attachment.condition.wait(lambda: attachment.state.frames[frame_id].is_crashed, timeout_s=10)
    shot = await page.snapshot()
    assert "Isolated button" not in shot.text
    assert "frames" in shot.stats.truncate_reasons
    await page.reload()
    assert "Isolated button" in (await page.snapshot()).text


async def hang(page: Page) -> str:
    """Put the isolated frame's renderer into an endless loop; its session id."""
    attachment = await page.attached()
    _, session_id = await isolated_frame(page)
    attachment.connection.send("Runtime.evaluate", {"expression": "for(;;);"}, session_id=session_id).abandon()
    return session_id


async def free(page: Page, session_id: str) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.terminateExecution", timeout_s=20, session_id=session_id)


async def test_a_frame_whose_renderer_hangs_is_skipped_until_it_answers(page: Page) -> None:
    session_id = await hang(page)
    began = time.monotonic()
    shot = await page.snapshot(timeout_s=60)
    assert time.monotonic() - began < 40
    assert "Isolated button" not in shot.text
    assert shot.find(role="button", name="Outside")
    assert "frames" in shot.stats.truncate_reasons
    await free(page, session_id)
    assert "Isolated button" in (await page.snapshot()).text
    assert not (await page.attached()).silent_sessions


async def test_the_rest_of_the_page_works_while_a_frames_renderer_hangs(page: Page) -> None:
    outside = (await page.snapshot()).find(role="button", name="Outside").ref
    session_id = await hang(page)
    began = time.monotonic()
    # Each waits a part of its time for the frame.
    clicked = await page.click(outside, timeout_s=20)
    assert clicked.changes.settled == "quiet"
    assert (await page.get_by_role("button", name="Outside").click(timeout_s=20)).changes.settled == "quiet"
    assert (await page.wait_for(role="button", name="Outside", timeout_s=20)).waited_ms < 19_000
    assert time.monotonic() - began < 50
    await free(page, session_id)


async def test_counts_that_a_hanging_frame_makes_unknown_are_not_reported(page: Page) -> None:
    button, text = page.get_by_role("button", name="Isolated button"), "does not respond"
    assert await button.count() == 1
    session_id = await hang(page)
    with pytest.raises(DeadlineExceeded, match=text) as refused:
        await button.count()
    assert "/isolated/inner.html" in refused.value.last_seen
    with pytest.raises(DeadlineExceeded, match=text):
        await button.all()
    with pytest.raises(DeadlineExceeded, match=text):
        await page.get_by_role("button").nth(1).ref(timeout_s=1)
    assert [match.name for match in (await page.get_by_role("button").last._search.find(None)).matches] == [
        "Inner button"
    ]
    for expected in (
        expect(button).to_be_hidden(timeout_s=1),
        expect(button).not_to_be_attached(timeout_s=1),
        expect(button).to_have_count(0, timeout_s=1),
        expect(button).not_to_have_count(1, timeout_s=1),
    ):
        with pytest.raises(ExpectationFailed, match=text):
            await expected
    await expect(page.get_by_role("button", name="Outside")).to_be_visible()
    assert await page.get_by_role("button", name="Outside").ref()
    assert await page.get_by_role("button").first.ref()
    await free(page, session_id)
    await expect(button).to_have_count(1)
    assert await button.count() == 1


async def test_an_action_in_a_renderer_that_hangs_fails_at_the_deadline(page: Page) -> None:
    button = (await page.snapshot()).find(role="button", name="Isolated button").ref
    session_id = await hang(page)
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=button):
        await page.click(button, timeout_s=2)
    assert time.monotonic() - began < 20
    await free(page, session_id)
    assert "Isolated clicked true" in (await page.click(button)).changes.text


DRAGGED = """document.body.insertAdjacentHTML('afterbegin',
  '<div id=from role=button draggable=true tabindex=0>Card</div>');
addEventListener('click',(e)=>e.target.id=='from'&&(e.target.textContent='Clicked'));
document.getElementById('from').ondragstart=(e)=>e.dataTransfer.setData('text/plain','the card')"""
PLACE = """document.body.insertAdjacentHTML('afterbegin','<div id=to role=button tabindex=0>Place here</div>');
const to=document.getElementById('to');to.ondragover=(e)=>e.preventDefault();
to.ondrop=(e)=>{e.preventDefault();to.textContent='Has '+e.dataTransfer.getData('text/plain')+' '+e.isTrusted}"""


async def add_to_frames(page: Page, to_top: str, to_isolated: str) -> None:
    attachment = await page.attached()
    _, session_id = await isolated_frame(page)
    await attachment.call("Runtime.evaluate", {"expression": to_top}, timeout_s=20)
    await attachment.call("Runtime.evaluate", {"expression": to_isolated}, timeout_s=20, session_id=session_id)


@pytest.mark.parametrize("inwards", [True, False], ids=["into", "out of"])
async def test_a_draggable_element_is_dropped_in_a_frame_of_another_renderer(page: Page, inwards: bool) -> None:
    await add_to_frames(page, *((DRAGGED, PLACE) if inwards else (PLACE, DRAGGED)))
    shot = await page.snapshot()
    card, place = shot.find(role="button", name="Card").ref, shot.find(role="button", name="Place here").ref
    assert "Has the card true" in (await page.drag_and_drop(card, place)).changes.text
    assert shot.find(role="button", name="Card").ref in (await page.snapshot()).refs  # the drag did not click it
    # The next tap is an ordinary one.
    assert (await page.click((await page.snapshot()).find(role="button", name="Outside").ref)).success


async def test_a_touch_drag_into_another_frame_is_refused_with_a_hint(page: Page) -> None:
    shot = await page.snapshot()
    outside, inner = shot.find(name="Outside").ref, shot.find(name="Isolated button").ref
    with pytest.raises(UsageError, match="different frames"):
        await page.drag_and_drop(outside, inner)
    assert "Isolated clicked true" in (await page.click(inner)).changes.text


async def test_the_live_view_touches_an_element_in_another_renderer(page: Page) -> None:
    attachment = await page.attached()
    frame_id, session_id = await isolated_frame(page)
    add = "document.body.insertAdjacentHTML('afterbegin','<select id=s><option>S<option>M</select>')"
    await attachment.call("Runtime.evaluate", {"expression": add}, timeout_s=20, session_id=session_id)
    shot, actions, hands = await page.snapshot(), page._operations.attached.actions, TouchInput(attachment)
    assert actions is not None
    hands.width, hands.height = await attachment.evaluate(page_frame(page), "[innerWidth,innerHeight]", timeout_s=20)

    async def touch(name: str, role: str) -> dict[str, Any] | None:
        entry, deadline = actions.look_up(shot.find(role=role, name=name).ref), Deadline.after(5)
        # A tap on a select is refused, so the test asks for its position.
        x, y, _ = await actions.point(entry, "hover", deadline)
        await actions.stand_down(entry)
        begun = await hands.act(Touch("touchStart", x / hands.width, y / hands.height))
        await hands.act(Touch("touchEnd", x / hands.width, y / hands.height))
        return begun

    offered = await touch("", "combobox")
    assert offered is not None
    assert [label for label, _ in offered["options"]] == ["S", "M"]
    await hands.act(Choice(1))
    assert await attachment.evaluate(frame_id, "document.getElementById('s').value", timeout_s=20) == "M"
    assert await touch("Isolated button", "button") is None
    await page.wait_for(text="Isolated clicked true", timeout_s=20)


def page_frame(page: Page) -> str:
    main = page._operations.attached.attachment.state.main
    assert main is not None
    return main.frame_id
