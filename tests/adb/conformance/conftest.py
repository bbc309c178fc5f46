"""The device that the rows are asked of: `--serial S`, else a virtual device."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bridge.adb import AdbDevice, AdbServer
from tests.temp_devices import own_device


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--serial", help="a device of the running adb server, instead of a virtual device")


@pytest.fixture(scope="module")
def serial(request: pytest.FixtureRequest) -> str | None:
    """The given device, at the user's adb server; None for a virtual device at the suite's own."""
    given = request.config.getoption("--serial", default=None)
    if given is None:
        request.getfixturevalue("adb_port")
    return given


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device(serial: str | None) -> AsyncIterator[AdbDevice]:
    if serial is not None:
        yield AdbServer.from_environment().device(serial)
        return
    async with own_device(has_engine=False) as handle:
        yield AdbServer.from_environment().device(handle.serial)


@pytest_asyncio.fixture(loop_scope="module")
async def folder(device: AdbDevice) -> AsyncIterator[str]:
    """An empty folder on the device, removed at the end."""
    path = "/data/local/tmp/adb-conformance"
    await device.shell(f"rm -rf {path}; mkdir {path}", timeout_s=10, check=True)
    yield path
    await device.shell(["rm", "-rf", path], timeout_s=10)
