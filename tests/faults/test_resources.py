"""A full disk and half-closed connections: clear errors, and no leaks."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.errors import BridgeError, UsageError
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.faults.conftest import Opened, nothing_leaks, within
from tests.faults.test_hanging_pages import lives

pytestmark = pytest.mark.browser


@contextmanager
def disk_for(size_bytes: int) -> Iterator[None]:
    """Limit the file size: writing fails with EFBIG where a full disk fails with ENOSPC."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_download_to_a_full_disk_leaves_no_partial_file(
    opened: Opened, faulty_server: LocalServer, tmp_path: Path
) -> None:
    async with opened(downloads_root=tmp_path) as session:
        page = await session.new_page(faulty_server.url("calm"))
        async with nothing_leaks(session.serial):
            with disk_for(200_000):
                async with within(10.0):
                    with pytest.raises(UsageError, match="cannot write"):
                        await page.download("large.html", url=faulty_server.url("large"), timeout_s=10.0)
            assert not await asyncio.to_thread(lambda: list(tmp_path.iterdir()))
        there = await page.download("large.html", url=faulty_server.url("large"), timeout_s=20.0)
        assert there.size_bytes > 2_000_000
        await lives(page, faulty_server)


@pytest.mark.parametrize("way", [socket.SHUT_RD, socket.SHUT_WR, socket.SHUT_RDWR], ids=["in", "out", "both"])
async def test_a_half_closed_devtools_connection_is_noticed_and_replaced(
    opened: Opened, faulty_server: LocalServer, way: int
) -> None:
    async with opened() as session:
        page = await session.new_page(faulty_server.url("calm"))
        attachment = await page.attached()
        attachment.connection._channel.transport.get_extra_info("socket").shutdown(way)  # type: ignore[attr-defined]
        async with within(2.0):
            try:
                await page.snapshot(timeout_s=2.0)
            except BridgeError as error:
                assert error.code in ("transport_error", "timeout", "tab_lost")  # noqa: PT017 - or it is there already
        await lives(page, faulty_server)


async def test_a_session_leaks_nothing_not_even_browser_connections(
    opened: Opened, device: VirtualDeviceHandle, faulty_server: LocalServer
) -> None:
    # A first session sets up what lasts as long as the process, such as a thread pool.
    async with opened() as session:
        await session.new_page(faulty_server.url("calm"))
    async with nothing_leaks(device.serial, with_browsers=True):
        for _ in range(3):
            async with opened() as session:
                page = await session.new_page(faulty_server.url("calm"))
                await page.snapshot()
                await page.screenshot(full_page=True)
                await session.new_page(faulty_server.url("other"))
