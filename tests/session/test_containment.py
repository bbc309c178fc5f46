"""How far a session holds the traffic of a device to its policy, also when a part of it does not work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bridge import BrowserPolicy, Session, TestServerGrant
from bridge.errors import BridgeError, NameNotResolved, NavigationFailed, PolicyRefused, Unsupported
from bridge.page.interception.fetch_domain import FetchDomain
from bridge.page.interception.fetch_messages import PausedRequest
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


async def test_a_strict_policy_does_not_start_on_a_device_that_takes_no_proxy(
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
        page = await session.new_tab(local_server.url("second.html"))
        assert session.capabilities is not None
        assert (session.capabilities.egress, session.capabilities.fetch_interception) == ("unpinned", True)
        assert [notice for notice in notices if "egress=unpinned" in notice]
        port = f"tcp:{forbidden.port}"
        async with session.device.reverse(port, port, timeout_s=10):
            with pytest.raises(PolicyRefused):
                await page.goto(f"http://127.0.0.1:{forbidden.port}/")
            # WebSockets are the gate's to judge, and there is none.
            assert session.capabilities.websockets == "unjudged"
            assert await run(page_script(forbidden, with_socket=False), session) == "asked"
    assert forbidden.seen == []


async def test_a_name_that_nobody_knows_is_told_with_who_was_asked(webview_device: str) -> None:
    async def resolve(host: str) -> tuple[str, ...]:
        raise NameNotResolved(f"{host} has no address", host=host)

    async with Session.open(webview_device, egress=PinnedEgress(ALLOWS_ALL, resolve=resolve)) as session:
        page = await session.new_tab()
        with pytest.raises(NavigationFailed, match="ERR_NAME_NOT_RESOLVED") as failed:
            await page.goto("http://nowhere.example/")
    assert "this machine, which looks names up for the device, says nowhere.example has no address" in failed.value.hint


async def test_with_interception_gone_the_gate_still_lets_nothing_out(
    webview_device: str, forbidden: CountingServer
) -> None:
    site = Site([])
    async with serving(site):
        egress = PinnedEgress(ALLOWS_ALL, [TestServerGrant("localhost", site.port)])
        async with Session.open(webview_device, egress=egress) as session:
            page = await session.new_tab(site.url("/blank"))
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


async def test_a_tab_that_an_earlier_session_left_does_not_keep_the_next_one_off_the_gate(
    webview_device: str, local_server: LocalServer
) -> None:
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        left = await session.host_client.open_tab(width_px=412, height_px=915, density_dpi=160, timeout_s=20)
    async with Session.open(webview_device, grants=[local_server.grant]) as session:
        there = await session.host_client.list_tabs(timeout_s=20)
        assert left.tab not in [tab["tab"] for tab in there]
        await session.new_tab(local_server.url("second.html"))
        assert session.capabilities is not None
        assert session.capabilities.egress == "pinned"


async def test_a_window_that_opens_while_the_session_ends_is_closed_with_it(
    webview_device: str, local_server: LocalServer
) -> None:
    async with Session.open(webview_device, grants=[local_server.grant]) as watching:
        async with Session.open(webview_device, grants=[local_server.grant]) as session:
            page = await session.new_tab(local_server.url("second.html"))
            attachment = await page.attached()
            attachment.connection.send(
                "Runtime.evaluate", {"expression": "window.open(location.href)", "userGesture": True}
            ).abandon()
            async with asyncio.timeout(30):
                while len(session.tabs) < 2:  # noqa: ASYNC110 - the news is what is waited for, and nobody tells it on
                    await asyncio.sleep(0.01)
        async with asyncio.timeout(20):  # the host app closes a tab behind what it was doing with it
            while [tab for tab in await watching.host_client.list_tabs(timeout_s=10) if tab["opener"] is not None]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_a_second_session_of_the_program_says_that_the_first_has_the_proxy(
    webview_device: str, local_server: LocalServer
) -> None:
    notices: list[str] = []
    async with Session.open(webview_device, grants=[local_server.grant]) as first:
        page = await first.new_tab(local_server.url("second.html"))
        async with Session.open(webview_device, grants=[local_server.grant], on_notice=notices.append) as second:
            await second.new_tab(local_server.url("second.html"))
            assert second.capabilities is not None
            assert second.capabilities.egress == "unpinned"
        assert "another session of this program" in notices[-1]
        assert (await page.goto(local_server.url("shop.html"))).status == 200
        assert first.capabilities is not None
        assert first.capabilities.egress == "pinned"


def test_a_host_that_was_seen_at_a_private_address_is_not_shown_and_not_asked_again() -> None:
    egress = PinnedEgress(ALLOWS_ALL)
    interception = UrlPolicy(egress, blocks_proxy_bypass=True)
    for seen in ("93.184.216.34", "93.184.216.99"):  # one site may have several addresses
        interception._watch("Network.responseReceived", response("https://a.example/", seen), None)
        interception.check_shown("https://a.example/x")
    interception._watch("Network.responseReceived", response("https://b.example/", "[::1]"), None)
    with pytest.raises(PolicyRefused, match=r"b\.example is refused: it resolved to ::1"):
        interception.check_shown("https://b.example/x")
    assert [record.decision for record in egress.audit] == ["deny range:loopback"]


async def test_a_tab_is_told_why_it_was_refused_although_another_goes_to_the_same_address() -> None:
    url = "http://127.0.0.1:1/"
    interception = UrlPolicy(PinnedEgress(ALLOWS_ALL), blocks_proxy_bypass=True)
    refused, underway = (PausedRequest(tab, url, "GET", {}, "Document", tab) for tab in ("one", "other"))
    assert await interception._judge(refused, "one") is not None
    interception._follow(underway, True)
    assert isinstance(interception.explain(NavigationFailed(url, "net::ERR_BLOCKED_BY_CLIENT")), PolicyRefused)
    assert isinstance(interception.explain(NavigationFailed(url, "net::ERR_ABORTED")), NavigationFailed)


def response(url: str, address: str) -> dict[str, object]:
    return {"response": {"url": url, "remoteIPAddress": address}}


def page_script(forbidden: CountingServer, *, with_socket: bool = True) -> str:
    """Ways in which a page asks by itself, awaited to their end."""
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
    """What the first tab's page answers; None where it has no answer, being on its way elsewhere."""
    attachment = await session.pages[0].attached()
    call = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    try:
        reply = await attachment.call("Runtime.evaluate", call, timeout_s=15)
    except BridgeError:
        return None
    return reply["result"].get("value")


async def _cannot(*given: object, **more: object) -> None:
    raise Unsupported("this WebView cannot intercept requests")


async def test_where_requests_cannot_be_intercepted_a_strict_policy_opens_nothing_and_another_says_so(
    webview_device: str, local_server: LocalServer, forbidden: CountingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FetchDomain, "add", _cannot)  # no engine at hand lacks the domain
    url = local_server.url("second.html")
    with pytest.raises(PolicyRefused, match="requests cannot be intercepted"):
        async with Session.open(webview_device, policy=ALLOWS_ALL, grants=[local_server.grant]) as session:
            await session.new_tab(url)

    policy = BrowserPolicy(default_action="allow", strict=False)
    async with Session.open(webview_device, policy=policy, grants=[local_server.grant]) as session:
        await session.new_tab(url)
        assert session.capabilities is not None
        assert (session.capabilities.egress, session.capabilities.fetch_interception) == ("pinned", False)
        port = f"tcp:{forbidden.port}"
        async with session.device.reverse(port, port, timeout_s=10):
            await run(page_script(forbidden), session)
            assert await run(f"fetch('{url}').then(() => 'through', String)", session) == "through"
    assert forbidden.seen == []
