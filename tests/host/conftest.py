"""Where the conformance suite gets its hosts from: the virtual device's, and the APK's core on a JVM."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from control_wire import Host, Wire, virtual_device_host
from jvm_host import jvm_host

from bridge.host.protocol import FrameReader

HostMaker = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(
    params=[
        pytest.param(virtual_device_host, id="virtual", marks=pytest.mark.browser),
        pytest.param(jvm_host, id="java", marks=pytest.mark.jdk),
    ]
)
def host_maker(request: pytest.FixtureRequest) -> HostMaker:
    maker: HostMaker = request.param
    return maker


@pytest.fixture
async def host(host_maker: HostMaker) -> AsyncIterator[Host]:
    async with host_maker() as started:
        yield started


@pytest.fixture
async def wire(host: Host) -> AsyncIterator[Wire]:
    opened = Wire(await host.connect(host.socket_name), FrameReader())
    yield opened
    opened.close()
