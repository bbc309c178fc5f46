"""How far a session enforces its policy on a device's traffic, also if a part of that does not work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from bridge import BrowserPolicy, Session, TestServerGrant
from bridge.errors import BridgeError, NameNotResolved, NavigationFailed, PolicyRefused, Unsupported
from bridge.page.fetch_domain import FetchDomain
from bridge.page.fetch_messages import PausedRequest
from bridge.page.interception.url_policy import UrlPolicy
from bridge.policy.pinning import PinnedEgress
from bridge.virtual_device import VirtualDeviceHandle
from tests.conftest import LocalServer
from tests.policy.site import CountingServer, Site, serving
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

ALLOWS_ALL = BrowserPolicy(default_action="allow")


@pytest.fixture
async def forbidden() -> AsyncIterator[CountingServer]:
    server = CountingServer()
    async with serving(server):
        yield server


@pytest.fixture
async def without_proxy(adb_port: int) -> AsyncIterator[VirtualDeviceHandle]:
    """A device whose WebView does not support a proxy."""
    async with own_device() as handle:
        await handle.fault("take_proxy_away")
        yield handle


async def test_a_strict_policy_needs_a_device_that_takes_a_proxy(
    without_proxy: VirtualDeviceHandle, local_server: LocalServer, forbidden: CountingServer
) -> None:
    with pytest.raises(PolicyRefused, match="this WebView does not support a proxy") as refused:
        async with Session.open(without_proxy.serial, policy=ALLOWS_ALL):
            pytest.fail("it started")
    assert "strict = false" in refused.value.hint

    notices: list[str] = []
    policy = BrowserPolicy(default_action="allow", strict=False, denied_origins=("ads.example",))
    async with Session.open(
        without_proxy.serial, policy=policy, grants=[local_server.grant], on_notice=notices.append
    ) as session:
        page = await session.new_page(local_server.url("second.html"))
        assert session.capabilities is not None
        assert (session.capabilities.egress, session.capabilities.fetch_interception) == ("unpinned", True)
        assert [notice for notice in notices if "egress=unpinned" in notice]
        port = f"tcp:{forbidden.port}"
        async with session.device.reverse(port, port, timeout_s=10):
            with pytest.raises(PolicyRefused):
                await page.goto(f"http://127.0.0.1:{forbidden.port}/")
            # Only the gate judges WebSockets, and there is none.
            assert session.capabilities.websockets == "unjudged"
            assert await run(page_script(forbidden, with_socket=False), session) == "asked"
    assert forbidden.seen == []


async def test_an_unknown_host_name_is_reported_with_its_resolver(webview_device: str) -> None:
    async def resolve(host: str) -> tuple[str, ...]:
        raise NameNotResolved(f"{host} has no address", host=host)

    async with Session.open(webview_device, egress=PinnedEgress(ALLOWS_ALL, resolve=resolve)) as session:
        page = await session.new_page()
        with pytest.raises(NavigationFailed, match="ERR_NAME_NOT_RESOLVED") as failed:
            await page.goto("http://nowhere.example/")
    assert (
        "This machine resolves names for the device, and reports: nowhere.example has no address" in failed.value.hint
    )


async def test_the_gate_enforces_the_policy_without_interception(
    webview_device: str, forbidden: CountingServer
) -> None:
    site = Site([])
    async with serving(site):
        egress = PinnedEgress(ALLOWS_ALL, [TestServerGrant("localhost", site.port)])
        async with Session.open(webview_device, egress=egress) as session:
            page = await session.new_page(site.url("/blank"))
            attachment = await page.attached()
            await attachment.call("Fetch.disable", timeout_s=20)
            port = f"tcp:{forbidden.port}"
            async with session.device.reverse(port, port, timeout_s=10):
                await run(page_script(forbidden), session)
                await run(f"location.href = 'http://127.0.0.1:{forbidden.port}/top'", session)
                assert await run(f"fetch('{site.url('/hit/after')}').then(() => 'through', String)", session) in (
                    "through",
                    None,
                )
            assert forbidden.seen == []
            assert [record.decision for record in egress.audit if record.port == forbidden.port]


async def test_a_tab_left_by_an_earlier_session_does_not_prevent_the_gate(
    webview_device: str, local_server: LocalServer
) -> None:
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        left = await session.host_client.open_tab(width_px=412, height_px=915, density_dpi=160, timeout_s=20)
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        there = await session.host_client.list_tabs(timeout_s=20)
        assert left.tab not in [tab["tab"] for tab in there]
        await session.new_page(local_server.url("second.html"))
        assert session.capabilities is not None
        assert session.capabilities.egress == "pinned"


async def test_a_popup_that_opens_while_the_session_ends_is_closed(
    webview_device: str, local_server: LocalServer
) -> None:
    async with Session.open(webview_device, grants=[local_server.grant]) as watching:
        async with Session.open(webview_device, grants=[local_server.grant]) as session:
            page = await session.new_page(local_server.url("second.html"))
            attachment = await page.attached()
            attachment.connection.send(
                "Runtime.evaluate", {"expression": "window.open(location.href)", "userGesture": True}
            ).abandon()
            async with asyncio.timeout(30):
                while len(session.tabs) < 2:  # noqa: ASYNC110 - no event reports it
                    await asyncio.sleep(0.01)
        async with asyncio.timeout(20):  # the host app closes a tab after its pending commands
            while [tab for tab in await watching.host_client.list_tabs(timeout_s=10) if tab["opener"] is not None]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_a_second_session_reports_that_the_first_has_set_the_proxy(
    webview_device: str, local_server: LocalServer
) -> None:
    notices: list[str] = []
    async with Session.open(webview_device, grants=[local_server.grant]) as first:
        page = await first.new_page(local_server.url("second.html"))
        async with Session.open(webview_device, grants=[local_server.grant], on_notice=notices.append) as second:
            await second.new_page(local_server.url("second.html"))
            assert second.capabilities is not None
            assert second.capabilities.egress == "unpinned"
        assert "another session of this program" in notices[-1]
        assert (await page.goto(local_server.url("shop.html"))).status == 200
        assert first.capabilities is not None
        assert first.capabilities.egress == "pinned"


def test_a_host_seen_at_a_private_address_is_not_shown_and_not_requested_again() -> None:
    egress = PinnedEgress(ALLOWS_ALL)
    interception = UrlPolicy(egress, blocks_proxy_bypass=True)
    for seen in ("93.184.216.34", "93.184.216.99"):  # one site may have several addresses
        interception._check_remote_address("Network.responseReceived", response("https://a.example/", seen), None)
        interception.check_shown("https://a.example/x")
    interception._check_remote_address("Network.responseReceived", response("https://b.example/", "[::1]"), None)
    with pytest.raises(PolicyRefused, match=r"b\.example is refused: it resolves to ::1"):
        interception.check_shown("https://b.example/x")
    redirect = {"redirectResponse": response("https://c.example/", "10.0.0.5")["response"]}
    interception._check_remote_address("Network.requestWillBeSent", redirect, None)
    with pytest.raises(PolicyRefused, match=r"c\.example is refused: it resolves to 10\.0\.0\.5 \(a private address\)"):
        interception.check_shown("https://c.example/x")
    assert [record.decision for record in egress.audit] == ["deny range:loopback", "deny range:private"]


async def test_a_refusal_is_reported_in_its_own_tab_and_explained() -> None:
    url = "http://127.0.0.1:1/"
    interception = UrlPolicy(PinnedEgress(ALLOWS_ALL), blocks_proxy_bypass=True)
    refused, underway = (PausedRequest(tab, url, "GET", {}, "Document", tab) for tab in ("one", "other"))
    reported: list[PolicyRefused] = []
    state = SimpleNamespace(main_frame_id="one", main=None)
    tab: Any = SimpleNamespace(state=state, refuse_navigation=reported.append)
    assert await interception._check(refused, tab) is not None
    assert [error.details["url"] for error in reported] == [url]
    interception._follow(underway, True)
    assert isinstance(interception.explain(NavigationFailed(url, "net::ERR_BLOCKED_BY_CLIENT")), PolicyRefused)


def response(url: str, address: str) -> dict[str, object]:
    return {"response": {"url": url, "remoteIPAddress": address}}


def page_script(forbidden: CountingServer, *, with_socket: bool = True) -> str:
    """The ways in which a page makes requests by itself, each awaited."""
    address = f"127.0.0.1:{forbidden.port}"
    asked = [
        f"fetch('http://{address}/a', {{mode: 'no-cors'}})",
        f"new Promise((done) => {{ const i = new Image; i.onload = i.onerror = done; i.src = 'http://{address}/b'; }})",
    ]
    if with_socket:
        asked.append(
            f"new Promise((done) => {{ const s = new WebSocket('ws://{address}/c'); s.onclose = s.onopen = done; }})"
        )
    return f"Promise.allSettled([{', '.join(asked)}]).then(() => 'asked')"


async def run(expression: str, session: Session) -> object:
    """The value in the first tab's page; None if the page is navigating away."""
    attachment = await session.pages[0].attached()
    call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    try:
        reply = await attachment.call("Runtime.evaluate", call, timeout_s=15)
    except BridgeError:
        return None
    return reply["result"].get("value")


async def _cannot(*given: object, **more: object) -> None:
    raise Unsupported("this WebView cannot intercept requests")


async def test_without_interception_a_strict_policy_refuses_and_another_gives_a_notice(
    webview_device: str, local_server: LocalServer, forbidden: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FetchDomain, "add", _cannot)  # no available engine lacks the domain
    url = local_server.url("second.html")
    with pytest.raises(PolicyRefused, match="requests cannot be intercepted"):
        async with Session.open(webview_device, policy=ALLOWS_ALL, grants=[local_server.grant]) as session:
            await session.new_page(url)

    policy = BrowserPolicy(default_action="allow", strict=False)
    async with Session.open(webview_device, policy=policy, grants=[local_server.grant]) as session:
        await session.new_page(url)
        assert session.capabilities is not None
        assert (session.capabilities.egress, session.capabilities.fetch_interception) == ("pinned", False)
        port = f"tcp:{forbidden.port}"
        async with session.device.reverse(port, port, timeout_s=10):
            await run(page_script(forbidden), session)
            assert await run(f"fetch('{url}').then(() => 'through', String)", session) == "through"
    assert forbidden.seen == []
