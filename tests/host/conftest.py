"""Where the conformance suite gets its hosts from: the virtual device's, and the APK's core on a JVM."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from conformance import connected
from control_wire import Host, Wire, virtual_device_host
from jvm_host import Jvm, jvm_host, running_jvm

from bridge.host import HostClient
from bridge.host.protocol import FrameReader

HostMaker = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    with running_jvm() as started:
        yield started


@pytest.fixture(
    params=[
        pytest.param("virtual", marks=pytest.mark.browser),
        pytest.param("java", marks=pytest.mark.jdk),
    ]
)
def host_maker(request: pytest.FixtureRequest) -> HostMaker:
    if request.param == "virtual":
        return virtual_device_host
    return functools.partial(jvm_host, request.getfixturevalue("jvm"))


@pytest.fixture
async def host(host_maker: HostMaker) -> AsyncIterator[Host]:
    async with host_maker() as started:
        yield started


@pytest.fixture
async def wire(host: Host) -> AsyncIterator[Wire]:
    opened = Wire(await host.connect(host.socket_name), FrameReader())
    yield opened
    opened.close()


@pytest.fixture
async def client(host: Host) -> AsyncIterator[HostClient]:
    async with connected(host, await host.connect(host.socket_name)) as opened:
        yield opened
