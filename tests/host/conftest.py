"""Where the conformance suite gets its host from.

Another implementation of PROTOCOL.md (the APK's core on a JVM) is tested by giving `host` another context manager.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from control_wire import Host, Wire, virtual_device_host

from bridge.host.protocol import FrameReader


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    async with virtual_device_host() as started:
        yield started


@pytest.fixture
async def wire(host: Host) -> AsyncIterator[Wire]:
    opened = Wire(await host.connect(host.socket_name), FrameReader())
    yield opened
    opened.close()
