"""Attach mode: another app's WebView, and Chrome, found exactly and driven with the same page methods."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from bridge import Session
from bridge.adb import AdbServer
from bridge.errors import (
    AppUnavailable,
    DeadlineExceeded,
    HostFailed,
    PolicyRefused,
    RefNotFound,
    TabLost,
    Unsupported,
    UsageError,
)
from bridge.page.page import Page
from bridge.session.attached.devtools_sockets import devtools_sockets, parse_sockets
from bridge.session.attached.session import AttachedSession
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer

PACKAGE, ACTIVITY = "org.example.sample", ".Main"

TABLE = """Num       RefCount Protocol Flags    Type St Inode Path
0: 00000002 00000000 00010000 0001 01 1 @webview_devtools_remote_41
0: 00000002 00000000 00010000 0001 01 2 @webview_devtools_remote_410_vendor
0: 00000003 00000000 00000000 0001 03 3 @webview_devtools_remote_42
0: 00000002 00000000 00010000 0001 01 4 @chrome_devtools_remote
0: 00000002 00000000 00010000 0001 01 5 @webview_devtools_remote_x
0: 00000002 00000000 00010000 0001 01 6 /dev/socket/webview_devtools_remote_43
0: 00000002 00000000 00010000 0001 01 7 @stetho_org.example_devtools_remote
nonsense
"""


def test_a_socket_belongs_to_the_process_with_its_exact_pid() -> None:
    processes = {4: "org.wrong", 41: "org.example.sample", 410: "org.example.sample.more:web", 42: "org.gone"}
    found = parse_sockets(TABLE, processes)
    assert [(item.name, item.pid, item.package) for item in found] == [
        ("webview_devtools_remote_41", 41, "org.example.sample"),
        ("webview_devtools_remote_410_vendor", 410, "org.example.sample.more"),
        ("chrome_devtools_remote", None, ""),
    ]
    assert found[1].process == "org.example.sample.more:web"


async def force_stop(device: VirtualDeviceHandle) -> None:
    shell = AdbServer.from_environment().device(device.serial).shell
    await shell(["am", "force-stop", PACKAGE], timeout_s=20)


def app_at(url: str, device: VirtualDeviceHandle, server: LocalServer) -> AbstractAsyncContextManager[AttachedSession]:
    grants = [server.grant]
    return Session.attach(PACKAGE, activity=ACTIVITY, data=url, device=device.serial, grants=grants)


async def use(page: Page, server: LocalServer) -> None:
    shot = await page.snapshot()
    assert shot.title == "Gold prices"
    result = await page.click(shot.find(role="button", name="Add to cart", nth=1).ref)
    assert "Cart: 1" in result.changes.text
    assert (await page.goto(server.url("second.html"))).title == "Second"


@pytest.mark.browser
async def test_a_foreign_webview_is_driven_like_our_own(device: VirtualDeviceHandle, local_server: LocalServer) -> None:
    async with app_at(local_server.url("shop.html"), device, local_server) as session:
        (page,) = session.pages
        await use(page, local_server)
        with pytest.raises(Unsupported, match="tabs cannot be opened"):
            await session.new_page()
        with pytest.raises(PolicyRefused):
            await page.goto("file:///etc/passwd")
    sockets = await devtools_sockets(AdbServer.from_environment().device(device.serial), timeout_s=10)
    assert [found.package for found in sockets] == [PACKAGE]  # the app still runs


@pytest.mark.browser
async def test_url_or_title_selects_one_of_several_pages(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    adb = AdbServer.from_environment().device(device.serial)
    async with adb.reverse(f"tcp:{local_server.port}", f"tcp:{local_server.port}", timeout_s=10):
        for path in ("shop.html", "second.html"):
            start = ["am", "start", "-n", f"{PACKAGE}/{ACTIVITY}", "-d", local_server.url(path)]
            await adb.shell(start, timeout_s=30, check=True)
        async with Session.attach(
            PACKAGE, device=device.serial, url="**/second.html", grants=[local_server.grant]
        ) as session:
            assert (await session.pages[0].snapshot()).title == "Second"
            other = await session.page(title="gold")
            assert (await other.snapshot()).title == "Gold prices"
            with pytest.raises(DeadlineExceeded, match=r"Gold prices.*shop\.html"):
                await session.page(timeout_s=1)


@pytest.mark.browser
async def test_the_app_may_restart(device: VirtualDeviceHandle, local_server: LocalServer) -> None:
    async with app_at(local_server.url("shop.html"), device, local_server) as session:
        (page,) = session.pages
        ref = (await page.snapshot()).find(role="searchbox").ref
        await force_stop(device)
        with pytest.raises(RefNotFound):
            await page.fill(ref, "too late")
        await use(page, local_server)


@pytest.mark.browser
@pytest.mark.parametrize("how", ["touch", "script"])
async def test_an_action_that_closes_the_window_succeeds(
    device: VirtualDeviceHandle, local_server: LocalServer, how: Any
) -> None:
    async with app_at(local_server.url("shop.html"), device, local_server) as session:
        (page,) = session.pages
        attachment = await page.attached()
        ends = {"expression": "document.body.innerHTML = '<button onclick=window.close()>Done</button>'"}
        await attachment.call("Runtime.evaluate", ends, timeout_s=20)
        done = await page.click((await page.snapshot()).find(name="Done").ref, input=how)
        closed = "the window was closed, by its page or its app"
        assert (done.changes.settled, done.changes.text) == ("closed", f"not known: {closed}")
        assert done.notices == (f"{closed}: the next call finds another page for t1",)


@pytest.mark.browser
async def test_an_app_that_ended_and_has_no_activity_to_launch_is_an_error(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    adb = AdbServer.from_environment().device(device.serial)
    await adb.shell(["am", "start", "-n", f"{PACKAGE}/{ACTIVITY}"], timeout_s=30, check=True)
    async with Session.attach(PACKAGE, device=device.serial) as session:
        (page,) = session.pages
        await force_stop(device)
        with pytest.raises((AppUnavailable, TabLost), match=r"is not running|gone"):
            await page.snapshot()


@pytest.mark.browser
async def test_an_activity_that_does_not_exist_is_named(device: VirtualDeviceHandle) -> None:
    with pytest.raises(HostFailed, match="does not exist"):
        async with Session.attach(PACKAGE, activity=".Nowhere", device=device.serial, timeout_s=10):
            pass
    with pytest.raises(UsageError, match="not a valid package name"):
        async with Session.attach("org.example; reboot", device=device.serial):
            pass


@pytest.mark.browser
async def test_chrome_is_attached_through_its_own_socket(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    async with Session.attach(
        "com.android.chrome",
        activity="com.google.android.apps.chrome.Main",
        data=local_server.url("shop.html"),
        url="**/shop.html",
        device=device.serial,
        grants=[local_server.grant],
    ) as session:
        await use(session.pages[0], local_server)


async def wvb(*words: str) -> str:
    program = [sys.executable, "-c", "from bridge.surfaces.cli import main; main()"]
    process = await asyncio.create_subprocess_exec(*program, *words, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert process.returncode == 0
    return printed.decode()


@pytest.mark.browser
async def test_targets_are_listed_with_their_packages(device: VirtualDeviceHandle) -> None:
    adb = AdbServer.from_environment().device(device.serial)
    await adb.shell(["am", "start", "-n", f"{PACKAGE}/{ACTIVITY}"], timeout_s=30, check=True)
    (target,) = json.loads(await wvb("targets", "--device", device.serial, "--json", "--pages"))["targets"]
    assert (target["package"], target["kind"]) == (PACKAGE, "webview")
    assert [page["url"] for page in target["pages"]] == ["about:blank"]
    listed = await wvb("targets", "--device", device.serial)
    assert re.fullmatch(rf"{re.escape(PACKAGE)} +webview_devtools_remote_\d+\n", listed)
    await force_stop(device)
    async with Session.open(device.serial) as session:
        await session.new_page()
        assert "#" not in await wvb("targets", "--device", device.serial, "--pages")


@pytest.mark.browser
async def test_a_select_of_an_app_takes_select_and_refuses_a_tap(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    async with app_at(local_server.url("controls.html"), device, local_server) as session:
        (page,) = session.pages
        ref = (await page.snapshot()).find(role="combobox").ref
        with pytest.raises(Unsupported, match="opens a system dialog") as refused:
            await page.click(ref, timeout_s=60)
        assert f"select_option({ref}, " in refused.value.hint
        assert (await page.select_option(ref, "Medium")).values == ("Medium",)
