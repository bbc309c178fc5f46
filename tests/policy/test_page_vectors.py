"""What a page can do to reach a server that it must not reach, on a real browser, counted at that server.

Each vector shows first that it works at all: "held" ones in the session itself, aimed at the site, which it may reach;
"plain" ones in a Chromium without a session, aimed at a server that counts connections and datagrams. Then it is aimed
at a loopback port that is not granted, by its address and by a name that resolves to it. The device's loopback leads
there, so that a connection which goes around the gate would arrive as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from bridge import Session, TestServerGrant
from bridge.cdp import CdpConnection
from bridge.errors import BridgeError, NameNotResolved, PolicyRefused
from bridge.page.page import Page
from bridge.policy import BrowserPolicy
from bridge.policy.pinning import PinnedEgress
from bridge.virtual_device.engine.chromium import find_chromium, run_chromium
from bridge.virtual_device.engine.pipe import open_pipe
from tests.policy.site import CountingServer, Site, serving

pytestmark = pytest.mark.browser

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "corpus" / "page_vectors.json").read_text(encoding="utf-8")
)
# A vector whose request has not arrived after this time is tried again in another tab: on a busy machine a tab may
# count as hung, and is closed with the other tabs of its renderer. The waits end as soon as the request is there.
_CONTROL_S = 30.0
_TRIES = 3
_LOAD_S = 60.0
_LOADED = "new Promise((done) => document.readyState == 'complete' ? done() : addEventListener('load', done))"
_CLICK = {
    "expression": f"{_LOADED}.then(() => document.getElementById('a').click())",
    "userGesture": True,
    "awaitPromise": True,
}
_AT_ONCE = 4


async def _resolve(host: str) -> tuple[str, ...]:
    if host == "inside.example":
        return ("127.0.0.1",)
    raise NameNotResolved(f"{host} has no address", host=host)


@pytest.fixture
async def forbidden() -> AsyncIterator[CountingServer]:
    server = CountingServer()
    async with serving(server):
        yield server


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    server = Site(VECTORS)
    async with serving(server):
        yield server


@pytest.fixture
async def held(webview_device: str, site: Site, forbidden: CountingServer) -> AsyncIterator[Session]:
    """A session whose policy allows everything that is not always refused."""
    policy = BrowserPolicy(default_action="allow")
    egress = PinnedEgress(policy, [TestServerGrant("localhost", site.port)], resolve=_resolve)
    async with Session.open(webview_device, egress=egress) as session:
        port = f"tcp:{forbidden.port}"
        async with session.device.reverse(port, port, timeout_s=10):
            yield session


def _address(site: Site, vector: dict[str, Any], target: str) -> str:
    return site.url(f"/vector/{vector['name']}?target={quote(target, safe='')}")


async def _visit(page: Page, site: Site, vector: dict[str, Any], target: str) -> BridgeError | None:
    """The test counts what the page did, whatever the result of the visit."""
    try:
        await page.goto(_address(site, vector, target), timeout_s=_LOAD_S)
        if "gesture" in vector:
            attachment = await page.attached()
            await attachment.call("Runtime.evaluate", _CLICK, timeout_s=_LOAD_S)
    except BridgeError as error:
        return error
    return None


async def _gets_through(page: Page, site: Site, name: str) -> bool:
    """Whether a page makes its request."""
    for _ in range(_TRIES):
        if await _visit(page, site, {"name": "fetch"}, site.url(f"/hit/{name}")) is None:
            break
    return await site.wait_for_hit(name, timeout_s=_CONTROL_S)


async def _aim(session: Session, site: Site, vector: dict[str, Any], forbidden_port: int) -> bool:
    """Aim a vector at the site, if it is held, and at the forbidden server. False if its tab was lost on the way."""
    name = vector["name"]
    try:
        page = await session.new_page()
    except BridgeError:
        return False
    try:
        if vector["control"] == "held":
            await _visit(page, site, vector, site.url(f"/hit/{name}"))
            if not await site.wait_for_hit(name, timeout_s=_CONTROL_S):
                return False
        for host in ("127.0.0.1", "inside.example"):
            target = f"http://{host}:{forbidden_port}/hit/{name}"
            await _visit(page, site, vector, target)
            # A later request of the same page is through: what came before it has been decided.
            if not await _gets_through(page, site, f"after-{host}-{name}") or target not in site.aimed_at:
                return False
    finally:
        with contextlib.suppress(BridgeError):
            await page.close()
    return True


def test_there_are_vectors_of_every_kind() -> None:
    assert len(VECTORS) >= 90
    assert {vector["control"] for vector in VECTORS} == {"held", "plain"}
    assert len({vector["name"] for vector in VECTORS}) == len(VECTORS)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Chromium has a socket in its folder, and the path of a socket is short."""
    with tempfile.TemporaryDirectory(prefix="wvb-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.timeout(300)
async def test_each_vector_works_in_a_browser_without_a_policy(site: Site, short_folder: Path) -> None:
    flags = ["--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--remote-debugging-pipe"]
    flags.append("--allow-loopback-in-peer-connection")  # STUN servers are elsewhere, as a rule
    program = str(find_chromium(os.environ))
    idle: list[str] = []

    async def reaches(browser: CdpConnection, vector: dict[str, Any]) -> bool:
        witness = CountingServer()
        async with serving(witness):
            address = _address(site, vector, f"http://127.0.0.1:{witness.port}/hit/{vector['name']}")
            if vector.get("within"):  # the standard refuses it across origins
                address = _address(site, vector, site.url(f"/hit/{vector['name']}"))
            made = await browser.call("Target.createTarget", {"url": "about:blank"}, timeout_s=_LOAD_S)
            to = {"targetId": made["targetId"], "flatten": True}
            tab = (await browser.call("Target.attachToTarget", to, timeout_s=_LOAD_S))["sessionId"]
            await browser.call("Page.navigate", {"url": address}, session_id=tab, timeout_s=_LOAD_S)
            if "gesture" in vector:
                await browser.call("Runtime.evaluate", _CLICK, session_id=tab, timeout_s=_LOAD_S)
            if vector.get("within"):
                arrived = await site.wait_for_hit(vector["name"], timeout_s=_CONTROL_S)
            else:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_CONTROL_S):
                        await witness.arrived.wait()
                arrived = witness.arrived.is_set()
            await browser.call("Target.closeTarget", {"targetId": made["targetId"]}, timeout_s=_LOAD_S)
            return arrived

    async with (
        run_chromium([program, *flags, f"--user-data-dir={short_folder}"], short_folder, timeout_s=30) as chromium,
        open_pipe(chromium.sock) as pipe,
    ):
        for vector in VECTORS:
            if vector["control"] == "plain":  # one after the other: tabs in the background speculate on nothing
                for _ in range(_TRIES):
                    if await reaches(pipe.cdp, vector):
                        break
                else:
                    idle.append(vector["name"])

    assert not idle, ", ".join(idle)


async def test_a_strict_session_reports_its_protection(held: Session) -> None:
    await held.new_page()

    assert held.capabilities is not None
    assert (held.capabilities.egress, held.capabilities.webrtc) == ("pinned", "blocked")
    assert held.capabilities.websockets == "judged"
    assert held.capabilities.fetch_interception


@pytest.mark.timeout(600)
async def test_no_vector_reaches_a_forbidden_server(held: Session, site: Site, forbidden: CountingServer) -> None:
    idle: list[str] = []
    few = asyncio.Semaphore(_AT_ONCE)

    async def run(vector: dict[str, Any]) -> None:
        async with few:
            for _ in range(_TRIES):
                if await _aim(held, site, vector, forbidden.port):
                    return
            idle.append(vector["name"])

    await asyncio.gather(*(run(vector) for vector in VECTORS if "gesture" not in vector))
    for vector in VECTORS:
        if "gesture" in vector:  # one after the other: a device has room for few windows
            await run(vector)
            for page in held.pages:
                await page.close()

    assert forbidden.seen == []
    assert not idle, ", ".join(idle)


async def test_a_redirect_to_a_forbidden_address_is_reported_as_refused(
    held: Session, site: Site, forbidden: CountingServer
) -> None:
    page = await held.new_page()

    with pytest.raises(PolicyRefused, match="loopback"):
        await page.goto(site.url(f"/redirect/302?to=http://127.0.0.1:{forbidden.port}/"))
    with pytest.raises(PolicyRefused, match=r"inside.example is refused: it resolves to 127.0.0.1"):
        await page.goto(site.url(f"/redirect/302?to=http://inside.example:{forbidden.port}/"))
    assert forbidden.seen == []


async def test_ten_redirects_are_followed_and_eleven_are_not(held: Session, site: Site) -> None:
    page = await held.new_page()

    assert (await page.goto(site.url("/chain?left=10"))).status == 200
    site.hops = 0
    with pytest.raises(PolicyRefused, match="more than 10 redirects"):
        await page.goto(site.url("/chain?left=12"))
    assert site.hops == 11


async def test_content_of_a_forbidden_page_is_not_returned(held: Session, site: Site) -> None:
    page = await held.new_page()
    await page.goto(site.url("/blank"))
    attachment = await page.attached()
    go = "location.href=URL.createObjectURL(new Blob(['<h1>inside</h1>'],{type:'text/html'}))"
    attachment.connection.send("Runtime.evaluate", {"expression": go}).abandon()
    await attachment.condition.wait(lambda: page.url.startswith("blob:"), timeout_s=20)

    with pytest.raises(PolicyRefused, match="blob:"):
        await page.snapshot()
    await page.goto(site.url("/blank"))
    assert await page.snapshot()


async def test_without_the_gate_no_request_leaves(held: Session, site: Site) -> None:
    page = await held.new_page()
    await page.goto(site.url("/blank"))
    assert held.containment.gate is not None
    await held.containment.gate.stop()

    with pytest.raises(BridgeError):
        await page.goto(site.url("/hit/without-a-gate"))
    assert "without-a-gate" not in site.hits


async def test_windows_opened_by_scripts_have_no_webrtc(held: Session, site: Site) -> None:
    page = await held.new_page(site.url("/blank"))
    attachment = await page.attached()
    for opened in ("open('about:blank')", "document.open('about:blank', '_blank', '')", "open('', 'named')"):
        held_out = f"(handed => typeof handed.RTCPeerConnection + typeof handed.WebTransport)({opened})"
        call = {"expression": held_out, "userGesture": True, "returnByValue": True}
        reply = await attachment.call("Runtime.evaluate", call, timeout_s=10)
        assert reply["result"].get("value") == "undefinedundefined", opened
    assert (await attachment.call("Runtime.evaluate", {"expression": "document.open() === document"}, timeout_s=20))[
        "result"
    ]["value"] is True
