"""Attach mode under a policy: an app page's requests and content are judged as far as interception sees them."""

from __future__ import annotations

import pytest

from bridge import AppGrant, BrowserPolicy, Session, TestServerGrant
from bridge.adb import AdbServer
from bridge.errors import PolicyRefused
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.policy.site import CountingServer, Site, serving

pytestmark = pytest.mark.browser

PACKAGE, ACTIVITY = "org.example.sample", ".Main"


async def test_requests_of_an_attached_page_are_judged(device: VirtualDeviceHandle) -> None:
    forbidden, site = CountingServer(), Site([])
    async with (
        serving(forbidden),
        serving(site),
        Session.attach(
            PACKAGE,
            activity=ACTIVITY,
            data=site.url("/blank"),
            device=device.serial,
            grants=[TestServerGrant("localhost", site.port)],
        ) as session,
        session.device.reverse(f"tcp:{forbidden.port}", f"tcp:{forbidden.port}", timeout_s=10),
    ):
        (page,) = session.pages
        assert session.capabilities is not None
        assert session.capabilities.to_json() == {
            "fetch_interception": True,
            "webrtc": "open",  # no policy is configured
            "egress": "unpinned",
            "websockets": "unjudged",
        }
        attachment = await page.attached()
        ask = f"fetch('http://127.0.0.1:{forbidden.port}/', {{mode: 'no-cors'}}).then(() => 'through', () => 'refused')"
        call = {"expression": ask, "awaitPromise": True, "returnByValue": True}
        assert (await attachment.call("Runtime.evaluate", call, timeout_s=10))["result"]["value"] == "refused"
        go = {"expression": f"location.href = 'http://127.0.0.1:{forbidden.port}/top'"}
        attachment.connection.send("Runtime.evaluate", go).abandon()
        assert (await page.goto(site.url("/blank"))).title == "blank"
        with pytest.raises(PolicyRefused, match="loopback"):
            await page.goto(site.url(f"/redirect/302?to=http://127.0.0.1:{forbidden.port}/"))
        # Without a gate Chromium may connect before interception decides; it sends no request.
        assert {*forbidden.seen} <= {"a connection without a request"}


async def test_content_that_an_app_serves_to_itself_needs_a_grant(
    device: VirtualDeviceHandle, local_server: LocalServer
) -> None:
    adb = AdbServer.from_environment().device(device.serial)
    address = local_server.url("second.html")
    async with adb.reverse(f"tcp:{local_server.port}", f"tcp:{local_server.port}", timeout_s=10):
        started = {"activity": ACTIVITY, "data": address, "device": device.serial}
        async with Session.attach(PACKAGE, **started) as session:
            with pytest.raises(PolicyRefused, match="loopback"):
                await session.pages[0].snapshot()
        own = AppGrant(PACKAGE, [address.rpartition("/")[0]])
        async with Session.attach(PACKAGE, **started, grants=[own]) as session:
            assert (await session.pages[0].snapshot()).title == "Second"
        with pytest.raises(PolicyRefused, match="strict"):
            async with Session.attach(PACKAGE, **started, policy=BrowserPolicy()):
                pass
