"""Pages that hang, flood or block: each operation ends in time and says why, and the session lives on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest

from bridge.errors import BridgeError, DeadlineExceeded
from bridge.page.fetch_messages import PausedRequest, Proceed
from bridge.page.page import Page
from bridge.page.recovery import hang_recovery
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.faults.conftest import Opened, nothing_leaks, within

pytestmark = pytest.mark.browser


@pytest.fixture
async def nothing_is_left(device: VirtualDeviceHandle, opened: Opened) -> AsyncIterator[None]:
    """Checks a whole test for leaks, sessions included, after a first session has set up what lasts."""
    async with opened() as session:
        await session.new_page()
    async with nothing_leaks(device.serial, with_browsers=True):
        yield


async def lives(page: Page, server: LocalServer) -> None:
    """The tab is usable again."""
    there = await page.goto(server.url("calm"), timeout_s=60)
    assert there.title == "Calm"
    shot = await page.snapshot()
    result = await page.click(shot.find(name="Other").ref)
    assert result.changes.url == server.url("other")


async def outcome(operation: Coroutine[Any, Any, object]) -> BridgeError | None:
    """The error of the operation; None if it succeeded."""
    try:
        await operation
    except BridgeError as error:
        return error
    return None


async def test_an_endless_event_handler_is_terminated_and_its_document_stays(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("loop-on-click"))
        shot = await page.snapshot()
        async with within(2.0):
            with pytest.raises(DeadlineExceeded) as caught:
                await page.click(shot.find(name="Spin").ref, timeout_s=2.0)
        assert caught.value.details["recovery"] == "terminate_script"
        assert "was terminated" in str(caught.value)
        assert (await page.snapshot()).title == "Loop"
        await lives(page, faulty_server)


async def test_a_page_that_loops_while_loading_is_recovered_and_can_be_left(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page()
        async with within(2.0):
            with pytest.raises(DeadlineExceeded) as caught:
                await page.goto(faulty_server.url("loop-at-once"), timeout_s=2.0)
        assert caught.value.details["recovery"] in ("terminate_script", "kill_renderer")
        await lives(page, faulty_server)


async def test_a_page_that_floods_the_console_for_a_while_is_left_alone(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page()
        async with within(2.0):
            await outcome(page.goto(faulty_server.url("console"), timeout_s=2.0))
        await lives(page, faulty_server)


async def test_a_page_that_floods_the_console_for_ever_is_terminated_and_its_document_stays(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("console-for-ever"))
        shot = await page.snapshot()
        async with within(2.0):
            with pytest.raises(DeadlineExceeded) as caught:
                await page.click(shot.find(name="Talk").ref, timeout_s=2.0)
        assert caught.value.details["recovery"] in ("left_flooded", "terminate_script")
        assert (await page.wait_for(text="Talk", timeout_s=30)) is not None
        assert len(page.console()) > 0
        await lives(page, faulty_server)


async def test_a_page_that_loops_again_and_again_can_be_left(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("loop-later"))
        for _ in range(3):
            async with within(1.0):
                ended = await outcome(page.snapshot(timeout_s=1.0))
            assert ended is None or ended.details["recovery"] in ("terminate_script", "kill_renderer")
        await lives(page, faulty_server)


async def test_a_loop_does_not_block_the_next_navigation(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("loop-on-click"))
        attachment = await page.attached()
        loop = {"expression": "setInterval(()=>{for(;;);},50)"}
        await attachment.call("Runtime.evaluate", loop, timeout_s=20)
        await asyncio.sleep(0.2)
        there = await page.goto(faulty_server.url("calm"), timeout_s=20)
        assert there.title == "Calm"
        assert "did not respond" in " ".join(there.notices)
        assert len((await page.snapshot()).refs) == 3


async def test_a_loop_that_starts_during_a_navigation_does_not_block_it(
    opened: Opened, faulty_server: LocalServer
) -> None:
    """From then on no command reaches the renderer, so the tab is reopened."""
    async with opened() as session:
        page = await session.new_page(faulty_server.url("loop-on-click"))
        attachment = await page.attached()

        async def late(_request: PausedRequest) -> Proceed:
            await asyncio.sleep(1.5)
            return Proceed()

        await page.route("**/calm", late)
        loop = {"expression": "setTimeout(()=>{for(;;);},700)"}
        await attachment.call("Runtime.evaluate", loop, timeout_s=20)
        there = await page.goto(faulty_server.url("calm"), timeout_s=20)
        assert there.title == "Calm", there
        assert "was opened again" in " ".join(there.notices)
        await page.unroute("**/calm")
        await lives(page, faulty_server)


async def test_a_loop_in_one_tab_is_reported_there_and_the_other_tab_works(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        stuck = await session.new_page(faulty_server.url("loop-on-click"))
        other = await session.new_page(faulty_server.url("calm"))
        shot = await stuck.snapshot()
        with pytest.raises(DeadlineExceeded):
            await stuck.click(shot.find(name="Spin").ref, timeout_s=1.0)
        assert (await other.snapshot()).title == "Calm"
        await lives(stuck, faulty_server)


@pytest.mark.timeout(240)
@pytest.mark.usefixtures("nothing_is_left")
async def test_a_burst_of_dialogs_neither_blocks_nor_floods(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page()
        there = await page.goto(faulty_server.url("storm-at-once"), timeout_s=90)
        assert there.title == "Storm"
        assert there.notices[0] == "292 dialogs before these"
        assert len(there.notices) == 9
        await lives(page, faulty_server)


@pytest.mark.timeout(240)
async def test_endless_dialogs_are_ended(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("storm"))
        shot = await page.snapshot()
        async with within(2.0):
            with pytest.raises(DeadlineExceeded) as caught:
                await page.click(shot.find(name="Storm").ref, timeout_s=2.0)
        assert caught.value.details["recovery"] != "failed"
        # On a busy machine the dialogs may look like work other than a script, which may take half a minute.
        async with asyncio.timeout(180):
            while (ended := await outcome(page.goto(faulty_server.url("calm"), timeout_s=20))) is not None:
                assert ended.code == "timeout"
        await lives(page, faulty_server)


async def storm(page: Page) -> None:
    """Start endless dialogs outside of any operation."""
    attachment = await page.attached()
    asked = {"expression": "setTimeout(() => { for (;;) alert(1) })"}
    await attachment.call("Runtime.evaluate", asked, timeout_s=20)
    assert await attachment.condition.wait(lambda: attachment.dialogs.count, timeout_s=20)


@pytest.mark.timeout(240)
async def test_endless_dialogs_do_not_prevent_reload_or_back(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page()
        for leave, title in ((page.reload, "Storm"), (page.go_back, "Calm")):
            await page.goto(faulty_server.url("calm"))
            await page.goto(faulty_server.url("storm"))
            await storm(page)
            async with asyncio.timeout(100):
                while (failed := await outcome(leave(timeout_s=20))) is not None:
                    assert failed.code == "timeout"
            assert (await page.get_state()).title == title
        await lives(page, faulty_server)


@pytest.mark.usefixtures("nothing_is_left")
async def test_a_page_that_navigates_for_ever_can_be_left(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page()
        async with within(2.0):
            with pytest.raises(DeadlineExceeded, match="networkidle"):
                await page.goto(faulty_server.url("for-ever"), wait_until="networkidle", timeout_s=2.0)
        async with within(2.0):
            ended = await outcome(page.snapshot(timeout_s=2.0))
        assert ended is None or ended.code == "timeout"
        await lives(page, faulty_server)


@pytest.mark.usefixtures("nothing_is_left")
async def test_unload_handlers_do_not_delay_a_navigation(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("unload"))
        shot = await page.snapshot()
        await page.click(shot.find(name="Touch").ref)
        async with within(5.0):
            there = await page.goto(faulty_server.url("calm"), timeout_s=20)
        assert there.title == "Calm"
        assert 'beforeunload "" (accepted)' in there.notices
        await lives(page, faulty_server)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("path", "title"), [("many", "Many"), ("deep", "Deep"), ("text", "Text")])
@pytest.mark.usefixtures("nothing_is_left")
async def test_an_enormous_page_is_opened_and_read_in_time(
    opened: Opened, faulty_server: LocalServer, path: str, title: str
) -> None:
    async with opened() as session:
        page = await session.new_page()
        assert (await page.goto(faulty_server.url(path), timeout_s=150.0)).title == title
        # The engine lays out 50 MB of text for seconds, uninterruptibly; only the time after that is ours.
        await page.wait_for(selector="h1", timeout_s=60.0)
        async with within(5.0):
            shot = await page.snapshot(timeout_s=20, interactive_only=False)
        assert shot.title == title
        assert len(shot.text) <= 12_000
        # The script limits its own time; on a busy machine that may end before the heading, which is reported.
        assert f'heading "{title}"' in shot.text or "jsTime" in shot.stats.truncate_reasons
        # The rest of the page is cut and reported as cut; only the depths of `deep` are hidden and not counted.
        assert shot.stats.truncated or path == "deep"
        await lives(page, faulty_server)


@pytest.mark.timeout(240)
async def test_a_page_that_is_busy_without_a_script_is_left_alone(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        press = (await page.snapshot()).find(name="Press").ref
        connection = (await page.attached()).connection
        lay_out = "const p=document.body.appendChild(document.createElement('p'));p.textContent='word '.repeat(3e6);1"
        await connection.call("Runtime.evaluate", {"expression": lay_out}, timeout_s=10)
        async with within(0.5):
            ended = await outcome(page.snapshot(timeout_s=0.5))
        assert ended is not None
        assert ended.details["recovery"] == "left_busy"
        assert "layout" in str(ended)
        assert (await page.click(press, timeout_s=90)).ref == press


@pytest.mark.timeout(120)
async def test_the_renderer_of_a_page_that_stays_busy_is_killed_after_a_while(
    opened: Opened, faulty_server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hang_recovery, "BUSY_S", 3.0)
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        connection = (await page.attached()).connection
        # A synchronous request that is never answered: no command ends it.
        waits = "const r=new XMLHttpRequest();r.open('GET','/never',false);r.send()"
        connection.send("Runtime.evaluate", {"expression": waits}).abandon()
        steps = []
        while not steps or steps[-1] == "left_busy":
            ended = await outcome(page.snapshot(timeout_s=0.5))
            assert ended is not None
            steps.append(ended.details["recovery"])
        assert steps[0] == "left_busy"
        assert steps[-1] == "kill_renderer"
        await lives(page, faulty_server)


@pytest.mark.timeout(300)
async def test_a_short_timeout_on_an_enormous_page_ends_in_time(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page()
        await page.goto(faulty_server.url("text"), timeout_s=150.0)
        async with within(1.0):
            ended = await outcome(page.snapshot(timeout_s=1.0))
        assert ended is None or (ended.code == "timeout" and "did not respond" in ended.message)
        await lives(page, faulty_server)


async def test_a_server_that_half_closes_its_connection_blocks_nothing(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page()
        async with within(3.0):
            ended = await outcome(page.goto(faulty_server.url("half-closed"), timeout_s=3.0))
        assert ended is None or ended.code in ("navigation_failed", "timeout")
        async with within(2.0):
            assert "Half" in (await page.snapshot(timeout_s=2.0, interactive_only=False)).text
        await lives(page, faulty_server)


async def test_hang_recovery_leaks_nothing(opened: Opened, faulty_server: LocalServer) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        async with nothing_leaks(session.serial):
            for _ in range(3):
                await page.goto(faulty_server.url("loop-on-click"))
                shot = await page.snapshot()
                with pytest.raises(DeadlineExceeded):
                    await page.click(shot.find(name="Spin").ref, timeout_s=0.5)
                await lives(page, faulty_server)
        assert len(await session.host_client.list_tabs(timeout_s=20)) == len(session.pages) == 1
