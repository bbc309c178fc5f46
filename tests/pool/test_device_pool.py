"""Concurrent work on several devices, of which some go away in the middle."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge import DevicePool, JobOutcome, Session, sync
from bridge.adb import AdbServer
from bridge.errors import DeadlineExceeded, DeviceNotFound, NoDevice, ShellFailed, UsageError
from bridge.host.lease import lease_key
from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.device_pool.lease import leased
from bridge.surfaces.local_server import LocalServer
from tests.pool.pool_jobs import products_for, products_without_await, wanted, work_for

pytestmark = pytest.mark.browser

LONG_S = 900


@pytest.fixture(scope="module")
def shop() -> Iterator[LocalServer]:
    with serve_demo_pages() as server:
        yield server


def options(shop: LocalServer) -> dict[str, Any]:
    return {"grants": [shop.grant]}


async def test_a_device_that_dies_in_the_middle_loses_no_job(adb_port: int, shop: LocalServer, tmp_path: Path) -> None:
    items = work_for(shop.url("shop.html"), 12, tmp_path)
    async with DevicePool.open(["virtual"] * 2, session_options=options(shop)) as pool:
        outcomes = await pool.run(products_for, items)
    assert [outcome.result() for outcome in outcomes] == wanted(items)
    assert sum(outcome.attempts for outcome in outcomes) == len(items) + 1
    assert len({outcome.serial for outcome in outcomes}) == 3, "two devices, and one in place of the dead one"


@pytest.mark.slow
@pytest.mark.timeout(LONG_S)
async def test_eight_devices_do_two_hundred_jobs_and_three_deaths_lose_none(
    adb_port: int, shop: LocalServer, tmp_path: Path
) -> None:
    items = work_for(shop.url("shop.html"), 200, tmp_path, deaths=3)
    began = time.monotonic()
    async with DevicePool.open(["virtual"] * 8, session_options=options(shop)) as pool:
        outcomes = await pool.run(products_for, items)
    print(f"8 devices, 200 jobs: {time.monotonic() - began:.0f} s")
    assert [outcome.result() for outcome in outcomes] == wanted(items)
    assert len({outcome.serial for outcome in outcomes}) >= 8


def test_plain_functions_work_at_the_same_time_on_blocking_sessions(
    adb_port: int, shop: LocalServer, tmp_path: Path
) -> None:
    items = work_for(shop.url("shop.html"), 4, tmp_path)
    threads: set[str] = set()
    together = threading.Barrier(2, timeout=60)

    def job(session: Any, item: dict[str, Any]) -> str:
        if item is items[0] or item is items[1]:
            together.wait()  # one device after the other would wait here for ever
        threads.add(threading.current_thread().name)
        return products_without_await(session, item)

    items[0].pop("dies_once", None)
    items[1].pop("dies_once", None)
    with sync.DevicePool.open(["virtual"] * 2, session_options=options(shop)) as pool:
        assert [outcome.result() for outcome in pool.run(job, items)] == wanted(items)
        with pool.lease() as session:
            assert session.new_page(shop.url("login.html")).snapshot().title
    assert threading.main_thread().name not in threads


async def test_an_exception_ends_only_its_own_job(webview_device: str) -> None:
    async def job(session: Session, item: int) -> int:
        if item == 1:
            raise ValueError("one is no item")
        if item == 2:
            raise asyncio.CancelledError
        if item == 3:
            await session.device.shell("false", timeout_s=10, check=True)
        return item

    async with DevicePool.open([webview_device]) as pool:
        outcomes = await pool.run(job, range(5))
    assert [outcome.value for outcome in outcomes] == [0, None, None, None, 4]
    with pytest.raises(ValueError, match="one is no item"):
        outcomes[1].result()
    assert "the job cancelled itself" in str(outcomes[2].error)
    assert isinstance(outcomes[3].error, ShellFailed)
    assert [outcome.attempts for outcome in outcomes] == [1] * 5


async def test_an_object_with_an_async_call_is_a_job_and_what_a_listener_raises_is_raised(webview_device: str) -> None:
    class Job:
        async def __call__(self, session: Session, item: int) -> int:
            return item + 1

    def listen(outcome: JobOutcome[int]) -> None:
        raise LookupError(f"heard of {outcome.index}")

    async with DevicePool.open([webview_device]) as pool:
        assert [outcome.value for outcome in await pool.run(Job(), range(2))] == [1, 2]
        with pytest.raises(LookupError, match="heard of 0"):
            await pool.run(Job(), range(2), on_outcome=listen)


async def test_a_lease_is_one_works_alone_and_nothing_of_it_is_left_for_the_next(
    webview_device: str, shop: LocalServer
) -> None:
    async with DevicePool.open([webview_device], session_options=options(shop)) as pool:
        async with pool.lease() as first:
            page = await first.new_page(shop.url("shop.html"))
            await page.add_init_script("document.cookie = 'left=1'")
            await page.reload()
            with pytest.raises(DeadlineExceeded, match=f"{webview_device}: running a job"):
                async with pool.lease(timeout_s=0.2):
                    pytest.fail("two had the device")
        async with pool.lease(timeout_s=30) as second:
            assert second is not first
            assert second.pages == ()
            again = await second.new_page(shop.url("shop.html"))
            await again.wait_for(function="!document.cookie.includes('left')", timeout_s=20)


async def test_other_processes_have_their_turn_on_an_attached_device(webview_device: str) -> None:
    key = lease_key(AdbServer.from_environment().device(webview_device))
    async with DevicePool.open([webview_device]) as pool:
        async with leased([key], timeout_s=10):
            with pytest.raises(DeadlineExceeded, match="in use by another process"):
                async with pool.lease(timeout_s=0.3):
                    pytest.fail("it is somebody else's turn")
        async with pool.lease(timeout_s=30), asyncio.timeout(5):
            with pytest.raises(DeadlineExceeded):
                async with leased([key], timeout_s=0.2):
                    pytest.fail("it is our turn")


async def test_a_pool_that_leaves_its_block_leaves_no_device(adb_port: int) -> None:
    from bridge.virtual_device import list_virtual_devices

    seen: list[str] = []

    async def work() -> None:
        async with DevicePool.open(["virtual"]) as pool, pool.lease() as session:
            seen.append(session.serial)
            assert session.serial in {handle.serial for handle in list_virtual_devices()}
            raise RuntimeError("the user's own")

    with pytest.raises(RuntimeError, match="the user's own"):
        await work()
    assert seen[0] not in {handle.serial for handle in list_virtual_devices()}


async def test_a_virtual_device_that_cannot_start_is_reported_at_once(
    adb_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_CHROMIUM", "/nonexistent/chromium")
    monkeypatch.setenv("PATH", "/nonexistent")

    async def job(session: Session, item: int) -> None: ...

    async with DevicePool.open(["virtual"]) as pool:
        (outcome,) = await pool.run(job, [1], timeout_s=60)
    assert outcome.error is not None
    assert outcome.attempts == 0
    assert "chromium" in str(outcome.error).lower()


async def test_devices_that_make_no_pool_are_refused(adb_port: int, webview_device: str) -> None:
    async def opened(devices: Any) -> None:
        async with DevicePool.open(devices):
            pytest.fail("there is no such pool")

    with pytest.raises(DeviceNotFound, match="nobody"):
        await opened(["nobody"])
    with pytest.raises(UsageError, match="given twice"):
        await opened([webview_device, webview_device])
    with pytest.raises(UsageError, match="at least one"):
        await opened([])
    with pytest.raises(UsageError, match="'virtual'"):
        await opened("virtual")
    with pytest.raises(NoDevice, match="no device is attached"):
        await opened("all")  # the suite's own belongs to its test run


async def test_a_plain_function_needs_the_blocking_pool(webview_device: str) -> None:
    async with DevicePool.open([webview_device]) as pool:
        (outcome,) = await pool.run(products_without_await, [{"url": "http://x/", "words": ""}])  # type: ignore[arg-type]
    assert isinstance(outcome.error, UsageError)
    assert "bridge.sync" in outcome.error.hint
