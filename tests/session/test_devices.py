"""Which device is selected, and the errors if none can be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.adb import AdbServer, DeviceEntry
from bridge.errors import BridgeError, DeviceAmbiguous, DeviceNotFound, DeviceOffline, DeviceUnauthorized, NoDevice
from bridge.host.lease import hold_lease
from bridge.session.devices import SelectedDevice, VirtualDevices, select_device
from bridge.surfaces.composition import RunningVirtualDevices


class Attached(AdbServer):
    """An adb server that only lists devices."""

    def __init__(self, *entries: tuple[str, str]) -> None:
        super().__init__()
        object.__setattr__(self, "entries", tuple(DeviceEntry(serial, state) for serial, state in entries))

    async def devices(self, *, timeout_s: float) -> tuple[DeviceEntry, ...]:
        return self.entries  # type: ignore[attr-defined, no-any-return]


class Virtual:
    def __init__(self, *running: str) -> None:
        self._running = running

    def running(self) -> tuple[str, ...]:
        return self._running

    def owned(self) -> tuple[str, ...]:
        return ("127.0.0.1:1",)

    @asynccontextmanager
    async def start(self, server: AdbServer, *, timeout_s: float) -> AsyncIterator[str]:
        yield "127.0.0.1:7777"


async def choose(
    server: AdbServer, wanted: str, virtual: VirtualDevices | None = None
) -> tuple[SelectedDevice | BridgeError, list[str]]:
    notices: list[str] = []
    try:
        async with select_device(server, wanted, virtual, notices.append, timeout_s=20) as chosen:
            return chosen, notices
    except BridgeError as error:
        return error, notices


@pytest.fixture(autouse=True)
def _no_serial_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANDROID_SERIAL", raising=False)


async def test_the_only_attached_device_is_selected_without_a_notice() -> None:
    assert await choose(Attached(("A1", "device")), "auto", Virtual()) == (SelectedDevice("A1", False), [])


async def test_without_a_device_a_virtual_one_is_started_with_one_notice() -> None:
    chosen, notices = await choose(Attached(), "auto", Virtual())
    assert chosen == SelectedDevice("127.0.0.1:7777", True)
    assert len(notices) == 1
    assert "not a phone" in notices[0]


async def test_a_running_virtual_device_is_reused() -> None:
    server = Attached(("127.0.0.1:9", "device"))
    assert await choose(server, "virtual", Virtual("127.0.0.1:9")) == (SelectedDevice("127.0.0.1:9", True), [])


async def test_a_virtual_device_of_another_session_is_not_selected() -> None:
    server = Attached(("127.0.0.1:1", "device"))
    for wanted in ("auto", "virtual"):
        assert (await choose(server, wanted, Virtual()))[0] == SelectedDevice("127.0.0.1:7777", True)
    assert (await choose(server, "127.0.0.1:1", Virtual()))[0] == SelectedDevice("127.0.0.1:1", True)


async def test_a_virtual_device_that_the_adb_server_does_not_list_is_not_selected() -> None:
    server = Attached(("127.0.0.1:9", "offline"))
    assert await choose(server, "virtual", Virtual("127.0.0.1:9")) == (SelectedDevice("127.0.0.1:7777", True), [])


async def test_auto_takes_the_serial_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDROID_SERIAL", "B2")
    server = Attached(("A1", "device"), ("B2", "device"))
    assert await choose(server, "auto", Virtual()) == (SelectedDevice("B2", False), [])


@pytest.mark.parametrize(
    ("entries", "wanted", "error", "says"),
    [
        ([("A1", "device"), ("B2", "device")], "auto", DeviceAmbiguous, "A1, B2"),
        ([("A1", "unauthorized")], "auto", DeviceUnauthorized, "accept the USB debugging prompt"),
        ([("A1", "offline")], "auto", DeviceOffline, "A1 is offline"),
        ([("A1", "no permissions")], "auto", DeviceOffline, "udev rules"),
        ([("A1", "authorizing")], "auto", DeviceUnauthorized, "virtual"),
        ([("A1", "recovery")], "auto", DeviceOffline, "A1 is recovery"),
        ([("A1", "device")], "C3", DeviceNotFound, "attached: A1"),
        ([], "C3", DeviceNotFound, "attached: none"),
        ([("A1", "unauthorized")], "A1", DeviceUnauthorized, "A1"),
        ([("A1", "offline")], "A1", DeviceOffline, "A1 is offline"),
    ],
)
async def test_a_device_that_is_not_ready_is_an_error_and_not_replaced_by_another(
    entries: list[tuple[str, str]], wanted: str, error: type[BridgeError], says: str
) -> None:
    outcome, _ = await choose(Attached(*entries), wanted, Virtual())
    assert type(outcome) is error
    assert says in str(outcome)
    assert outcome.exit_code == 3


async def test_a_virtual_device_in_use_is_skipped_and_another_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    server = Attached(("127.0.0.1:8", "device"), ("127.0.0.1:9", "device"))
    running = Virtual("127.0.0.1:8", "127.0.0.1:9")
    with hold_lease("127.0.0.1:8", owner="another", policy_digest=""):
        assert (await choose(server, "virtual", running))[0] == SelectedDevice("127.0.0.1:9", True)
        with hold_lease("127.0.0.1:9", owner="another", policy_digest=""):
            assert (await choose(server, "virtual", running))[0] == SelectedDevice("127.0.0.1:7777", True)


async def test_without_a_way_to_start_a_virtual_device_the_error_says_none_is_running() -> None:
    outcome, _ = await choose(Attached(("A1", "device")), "virtual")
    assert type(outcome) is NoDevice
    assert "no virtual device is running" in str(outcome)


async def test_without_virtual_devices_a_missing_device_is_an_error() -> None:
    outcome, _ = await choose(Attached(), "auto")
    assert type(outcome) is NoDevice


async def test_a_command_that_cannot_start_a_virtual_device_gives_no_notice_of_one() -> None:
    error, notices = await choose(Attached(), "auto", RunningVirtualDevices())
    assert isinstance(error, NoDevice)
    assert notices == []
