"""Attaching to an app in a state that does not allow it: cause and cure, and adb stays usable."""

from __future__ import annotations

import asyncio

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.errors import AppUnavailable, BridgeError, DeadlineExceeded
from bridge.session.attached.devtools_sockets import devtools_sockets
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser

PACKAGE, ACTIVITY = "org.example.sample", ".Main"
NOT_DEBUGGABLE = "dev.webviewbridge.host"


async def refusal(device: VirtualDeviceHandle, package: str = PACKAGE) -> AppUnavailable:
    with pytest.raises(AppUnavailable) as refused:
        async with Session.attach(package, device=device.serial):
            pass
    return refused.value


async def start(device: VirtualDeviceHandle) -> str:
    """Start the app; the name of its devtools socket."""
    adb = AdbServer.from_environment().device(device.serial)
    await adb.shell(["am", "start", "-n", f"{PACKAGE}/{ACTIVITY}"], timeout_s=30, check=True)
    (found,) = await devtools_sockets(adb, timeout_s=10)
    return found.name


async def shell_answers(device: VirtualDeviceHandle) -> bool:
    try:
        result = await AdbServer.from_environment().device(device.serial).shell("echo here", timeout_s=2)
    except BridgeError:
        return False
    return result.stdout == "here\n"


async def test_an_app_that_is_not_installed(device: VirtualDeviceHandle) -> None:
    error = await refusal(device, "org.example.absent")
    assert error.cause == "not_installed"
    assert error.message == f"org.example.absent is not installed on {device.serial}"


async def test_an_app_that_is_not_running(device: VirtualDeviceHandle) -> None:
    error = await refusal(device)
    assert (error.cause, error.message) == ("not_running", f"{PACKAGE} is not running")
    assert "activity" in error.hint


async def test_an_app_without_a_webview(device: VirtualDeviceHandle) -> None:
    await device.fault("start_process", package=PACKAGE)
    error = await refusal(device)
    assert error.cause == "no_webview"
    async with Session.attach(PACKAGE, activity=ACTIVITY, device=device.serial) as session:
        assert session.pages


async def test_an_app_that_is_not_debuggable(device: VirtualDeviceHandle) -> None:
    await device.fault("start_process", package=NOT_DEBUGGABLE)
    error = await refusal(device, NOT_DEBUGGABLE)
    assert error.cause == "not_debuggable"
    assert "Java `WebView.setWebContentsDebuggingEnabled(true);`" in error.hint
    assert "Kotlin `WebView.setWebContentsDebuggingEnabled(true)`" in error.hint


async def test_a_frozen_app_is_not_connected_to(device: VirtualDeviceHandle) -> None:
    await start(device)
    await device.fault("freeze_app", package=PACKAGE)
    for _ in range(15):  # more than a backlog
        error = await refusal(device)
        assert error.cause == "frozen"
        assert "Android has frozen its process" in error.message
    assert await shell_answers(device)


async def test_starting_its_activity_thaws_an_app(device: VirtualDeviceHandle, local_server: LocalServer) -> None:
    await start(device)
    await device.fault("freeze_app", package=PACKAGE)
    url = local_server.url("shop.html")
    async with Session.attach(
        PACKAGE, activity=ACTIVITY, data=url, url="**/shop.html", device=device.serial, grants=[local_server.grant]
    ) as session:
        assert (await session.pages[0].snapshot()).title == "Gold prices"


async def test_an_app_that_freezes_while_it_is_attached(device: VirtualDeviceHandle) -> None:
    await start(device)
    async with Session.attach(PACKAGE, device=device.serial) as session:
        (page,) = session.pages
        await device.fault("freeze_app", package=PACKAGE)
        with pytest.raises(AppUnavailable, match="frozen"):
            await page.snapshot(timeout_s=2)
        assert await shell_answers(device)
        await device.fault("thaw_app", package=PACKAGE)
        assert (await page.snapshot()).url == "about:blank"


async def test_three_connections_at_most_stay_unanswered(device: VirtualDeviceHandle) -> None:
    await start(device)
    await device.fault("stop_accepting", package=PACKAGE)
    with pytest.raises(DeadlineExceeded):
        async with Session.attach(PACKAGE, device=device.serial, timeout_s=1):
            pass
    error = await refusal(device)
    assert error.cause == "not_accepting"
    for _ in range(10):
        assert (await refusal(device)).cause == "not_accepting"
    assert await shell_answers(device)


async def test_a_full_backlog_silences_the_virtual_device_like_a_phone(device: VirtualDeviceHandle) -> None:
    socket_name = await start(device)
    await device.fault("freeze_app", package=PACKAGE)
    adb = AdbServer.from_environment().device(device.serial)
    backlog = 11  # the WebView's 10, and the one more that Linux queues
    opened = [await adb.open_stream(f"localabstract:{socket_name}", timeout_s=10) for _ in range(backlog)]
    assert await shell_answers(device)
    with pytest.raises(DeadlineExceeded):
        await adb.open_stream(f"localabstract:{socket_name}", timeout_s=1)
    for sock in opened:
        sock.close()
    assert not await shell_answers(device)
    listed = await AdbServer.from_environment().devices(timeout_s=10)
    assert [row.state for row in listed if row.serial == device.serial] == ["device"]
    await device.fault("thaw_app", package=PACKAGE)
    async with asyncio.timeout(20):
        while not await shell_answers(device):
            pass
