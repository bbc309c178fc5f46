"""Another user of the machine gets nothing from any listening socket of a running session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge import Session
from bridge.peer_user import can_tell_users
from bridge.virtual_device import VirtualDeviceHandle
from tests.attack.other_user import NOBODY, Listener, gets, listeners
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user"),
]
# adbd asks for a signature before anything else (A_AUTH of AOSP packages/modules/adb/protocol.txt).
_AUTH = b"AUTH"


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        yield handle


async def test_another_user_gets_nothing_from_any_listener_of_a_session(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    assert can_tell_users()
    # Other tests of this worker may have devices of their own.
    own = {one.address for one in listeners({device.pid})}
    before = {one.address for one in listeners({os.getpid()})} - own
    async with Session.open(device.serial, grants=[local_server.grant]) as session:
        page = await session.new_page(local_server.url("form.html"))
        await page.snapshot()
        found = [one for one in listeners({os.getpid(), device.pid}) if one.address not in before and not _is_adb(one)]
        target = f"127.0.0.1:{local_server.port}"
        taken = await asyncio.to_thread(gets, found, target, user=NOBODY)
        mine = await asyncio.to_thread(gets, found, target, user=None)
    assert len(found) >= 4, found  # the gate, the device's loopback and way to the gate, adbd, the control socket
    assert {address: said for address, said in taken.items() if said and not said.startswith(_AUTH)} == {}
    assert sum(said.startswith(_AUTH) for said in taken.values()) == 1
    assert sum(bool(said) for said in mine.values()) >= 4, mine


def _is_adb(one: Listener) -> bool:
    return b"fork-server" in Path(f"/proc/{one.pid}/cmdline").read_bytes()
