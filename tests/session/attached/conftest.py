"""A device with a foreign app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.virtual_device import VirtualDeviceHandle
from tests.temp_devices import own_device

SAMPLE = Path(__file__).parents[2] / "virtual_device" / "data" / "sample-1.apk"


@pytest.fixture
async def device(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    async with own_device() as handle:
        await AdbServer.from_environment().device(handle.serial).install(SAMPLE, timeout_s=30)
        yield handle
