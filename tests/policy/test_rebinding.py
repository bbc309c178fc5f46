"""DNS rebinding against a real browser: whatever asks, the page never gets a byte from a later, private address.

The scripted name server and the dialler are handed in; device, browser, gate and servers are real. Public addresses
lead to the site on loopback, the private one to a server that counts who comes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bridge import Session
from bridge.errors import BridgeError, NameNotResolved, PolicyRefused
from bridge.page.page import Page
from bridge.policy import BrowserPolicy
from bridge.policy.dialling import StreamPair
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch import webfetch
from tests.policy.site import CountingServer, Site, serving

pytestmark = pytest.mark.browser

HOST, PORT = "site.example", 8080
PUBLIC, OTHER, V6, PRIVATE = "93.184.216.34", "93.184.216.35", "2606:4700:4700::1111", "10.0.0.7"
WAYS = ("navigation", "subresource", "websocket", "worker", "webfetch", "download")


class Names:
    """A name server whose answer changes in between; CNAMEs and TTLs are no part of what a resolver answers."""

    def __init__(self, *answer: str) -> None:
        self.answer = answer
        self.asked = 0

    async def resolve(self, host: str) -> tuple[str, ...]:
        self.asked += 1
        if host != HOST or not self.answer:
            raise NameNotResolved(f"{host} has no address", host=host)
        return self.answer


class Wire:
    """Public addresses lead to the site while they are up, the private one to the server behind it."""

    def __init__(self, site: Site, behind: CountingServer) -> None:
        self.up = {PUBLIC, OTHER, V6}
        self._site, self._behind = site, behind

    async def connect(self, address: str, _port: int) -> StreamPair:
        if address not in (*self.up, PRIVATE):
            raise ConnectionRefusedError(f"{address} is down")
        target = self._behind.port if address == PRIVATE else self._site.port
        return await asyncio.open_connection("127.0.0.1", target, limit=256 * 1024)


class Rig:
    """A session under a policy that allows everything public."""

    def __init__(self, session: Session, names: Names, wire: Wire, site: Site, behind: CountingServer) -> None:
        self.session, self.names, self.wire, self.site, self.behind = session, names, wire, site, behind

    async def use(self, page: Page, way: str, mark: str) -> str:
        """Ask the site for `/hit/MARK` in this way: "" when it answered, else the words of the refusal or failure."""
        url = f"http://{HOST}:{PORT}/hit/{mark}"
        egress = self.session.egress
        try:
            match way:
                case "navigation":
                    await page.goto(url, timeout_s=10)
                case "webfetch":
                    await webfetch(url, egress=egress, timeout_s=10)
                case "download":
                    await page.download(f"{mark}.bin", url=url, timeout_s=10)
                case _:
                    return await self._asked_by_the_page(page, way, url)
        except BridgeError as error:
            return f"{error.code}: {error.message}"
        return ""

    async def _asked_by_the_page(self, page: Page, way: str, url: str) -> str:
        worker = f"fetch('{url}').then((r) => r.text()).then(() => postMessage(''), (e) => postMessage(String(e)))"
        scripts = {
            "subresource": f"fetch('{url}').then((r) => r.text()).then(() => '', String)",
            "websocket": (
                "new Promise((done) => {"
                f" const s = new WebSocket('{url.replace('http', 'ws', 1)}'); s.onopen = () => done('');"
                " s.onclose = s.onerror = (e) => done('closed ' + e.type); })"
            ),
            "worker": (
                "new Promise((done) => { const w = new Worker(URL.createObjectURL(new Blob(["
                f"{json.dumps(worker)}])));"
                " w.onmessage = (e) => done(e.data); w.onerror = () => done('worker failed'); })"
            ),
        }
        attachment = await page.attached()
        call = {"expression": scripts[way], "awaitPromise": True, "returnByValue": True}
        reply = await attachment.call("Runtime.evaluate", call, timeout_s=15)
        found: Any = reply["result"].get("value")
        return str(found)


@asynccontextmanager
async def rig(device: str, downloads: Path, *answer: str) -> AsyncIterator[Rig]:
    site, behind = Site([]), CountingServer()
    async with serving(site), serving(behind):
        names, wire = Names(*answer), Wire(site, behind)
        egress = PinnedEgress(BrowserPolicy(default_action="allow"), resolve=names.resolve, connect=wire.connect)
        async with Session.open(device, egress=egress, downloads_root=downloads) as session:
            yield Rig(session, names, wire, site, behind)


@pytest.mark.parametrize("first", [(PUBLIC,), (V6,), (PUBLIC, V6)], ids=["A", "AAAA only", "both"])
async def test_the_first_answer_stays_pinned_when_the_name_turns_private(
    webview_device: str, tmp_path: Path, first: tuple[str, ...]
) -> None:
    async with rig(webview_device, tmp_path, *first) as bench:
        page = await bench.session.new_page(f"http://{HOST}:{PORT}/blank")
        bench.names.answer = (PRIVATE,)
        for way in WAYS:
            said = await bench.use(page, way, way)
            # The site has no WebSockets; that it was asked is what counts.
            assert said == "" or way == "websocket", (way, said)
            assert await bench.site.wait_for_hit(way, timeout_s=20)
        assert bench.names.asked == 1
        assert bench.session.egress.pins == {HOST: first}
        assert bench.behind.seen == []


@pytest.mark.parametrize("then", [(PRIVATE,), (OTHER,), (PUBLIC, PRIVATE), (V6, "::1")], ids=",".join)
async def test_a_changed_answer_is_refused_when_the_pinned_address_dies(
    webview_device: str, tmp_path: Path, then: tuple[str, ...]
) -> None:
    async with rig(webview_device, tmp_path, PUBLIC) as bench:
        page = await bench.session.new_page(f"http://{HOST}:{PORT}/blank")
        bench.names.answer = then
        bench.wire.up.discard(PUBLIC)
        before = set(bench.site.hits)
        for way in ("subresource", "websocket", "worker", "webfetch", "download", "navigation"):
            said = await bench.use(page, way, way)
            assert said, way
            if way in ("navigation", "webfetch"):
                assert said.startswith(f"policy_refused: DNS rebinding refused: {HOST} resolved to "), said
                assert said.endswith(f"first-seen resolve was {PUBLIC}")
        assert bench.site.hits == before
        assert bench.behind.seen == []


@pytest.mark.parametrize("first", [(PRIVATE,), (PUBLIC, PRIVATE), ("::ffff:10.0.0.7",), ("fd00::7",)], ids=",".join)
async def test_a_first_answer_with_a_private_address_is_refused(
    webview_device: str, tmp_path: Path, first: tuple[str, ...]
) -> None:
    async with rig(webview_device, tmp_path, *first) as bench:
        page = await bench.session.new_page()
        for way in ("navigation", "webfetch", "download", "subresource", "websocket", "worker"):
            said = await bench.use(page, way, way)
            assert said, way
            if way in ("navigation", "webfetch"):
                assert said.startswith(f"policy_refused: {HOST} is refused: it resolves to "), said
        assert bench.site.hits == set()
        assert bench.behind.seen == []
        with pytest.raises(PolicyRefused):
            bench.session.egress.check_resolved_host(HOST, PRIVATE)
