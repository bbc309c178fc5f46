"""A page that could not be restored is an error: its blank tab is never used as if it were the page."""

from __future__ import annotations

import pytest

from bridge.errors import DeadlineExceeded, TabLost
from bridge.page.fetch_messages import Abort
from bridge.page.recovery import hang_recovery
from tests.conftest import LocalServer
from tests.faults.conftest import Opened

pytestmark = pytest.mark.browser


async def test_a_tab_whose_page_hung_twice_refuses_everything_but_goto(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("loop-on-click"))
        for recovery in ("terminate_script", "kill_renderer"):
            with pytest.raises(DeadlineExceeded) as caught:
                await page.click((await page.snapshot()).find(name="Spin").ref, timeout_s=2.0)
            assert caught.value.details["recovery"] == recovery
        assert caught.value.hint == hang_recovery.HUNG_AGAIN

        async def has_no_page(recovery: str) -> None:
            for operation in (
                page.get_by_role("heading").count(),
                page.snapshot(),
                page.wait_for(gone="h1"),
                page.get_state(),
                page.screenshot(),
                page.scroll("down"),
                page.reload(),
            ):
                with pytest.raises(TabLost, match="loop-on-click hung again") as caught:
                    await operation
                assert "goto" in caught.value.hint
                assert caught.value.details["recovery"] == recovery

        await has_no_page("kill_renderer")
        assert "was opened again without its page" in " ".join(await session.reconnect())
        await has_no_page("opened_blank")
        assert (await page.goto(faulty_server.url("calm"))).title == "Calm"
        assert await page.get_by_role("heading").count() == 1


async def test_a_reopened_tab_whose_address_did_not_load_refuses_everything_but_goto(
    opened: Opened, faulty_server: LocalServer
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        await page.route("**/calm", Abort())
        assert await page._tab.kill_renderer(timeout_s=5)
        for _ in range(2):
            with pytest.raises(TabLost, match=r"was opened again, but .*calm did not load") as caught:
                await page.get_by_role("heading").count()
            assert "goto" in caught.value.hint
        assert (await page.goto(faulty_server.url("other"))).title == "Other"
