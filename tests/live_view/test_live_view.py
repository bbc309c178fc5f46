"""A person at the live view, played by a second browser tab: the viewer's own page, driven by its controls."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import sys
import urllib.error
import urllib.request
import webbrowser
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from PIL import Image
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bridge import Session, TestServerGrant
from bridge.errors import UsageError
from bridge.page.page import Page
from bridge.surfaces.live_view import LiveView, live_view
from bridge.surfaces.live_view.messages import Choice, Control, KeyPress, Text, Touch, parse_message
from tests.conftest import LocalServer

LIMIT_S = 20
HAS_IMAGE = "() => document.getElementById('screen').getContext('2d').getImageData(0, 0, 1, 1).data[3] > 0"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 5_000,
        '{"kind":"touch","phase":"touchStart","x":2,"y":0}',
        '{"kind":"touch","phase":"touchStart","x":NaN,"y":0}',
        '{"kind":"touch","phase":"touchStart","x":true,"y":0}',
        '{"kind":"touch","phase":"mousePressed","x":0,"y":0}',
        '{"kind":"text","text":""}',
        '{"kind":"text","text":5}',
        '{"kind":"key","key":"NoSuchKey"}',
        '{"kind":"choice","index":-1}',
        '{"kind":"choice","index":true}',
        '{"kind":"control","take":1}',
        '{"kind":"evaluate","expression":"1"}',
    ],
)
def test_an_invalid_message_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_message(text)


def test_messages_are_parsed_by_their_type() -> None:
    assert parse_message('{"kind":"touch","phase":"touchMove","x":0.5,"y":1}') == Touch("touchMove", 0.5, 1.0)
    assert parse_message('{"kind":"text","text":"a"}') == Text("a")
    assert parse_message('{"kind":"choice","index":3}') == Choice(3)
    assert parse_message('{"kind":"control","take":true}') == Control(True)
    key = parse_message('{"kind":"key","key":"Control+A"}')
    assert isinstance(key, KeyPress)
    assert {event["type"] for event in key.events} >= {"keyUp"}


def status_of(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=LIMIT_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.browser
async def test_the_page_is_served_at_its_own_address_only_and_holds_no_secret(page: Page) -> None:
    async with live_view(page) as view:
        root, token = view.url.split("#")
        port = root.rpartition(":")[2].rstrip("/")
        ask = asyncio.to_thread
        assert await ask(status_of, root, Host=f"evil.example:{port}") == 403
        assert await ask(status_of, f"{root}etc/passwd") == 404
        assert await ask(status_of, root) == 200
        with await ask(urllib.request.urlopen, root) as answer:
            assert answer.headers["Set-Cookie"] is None
            body = answer.read().decode()
        assert token not in body
        assert view._key not in body
        for origin in (
            "",
            "null",
            "http://evil.example",
            f"http://127.0.0.1:{int(port) + 1}",
            f"https://127.0.0.1:{port}",
        ):
            with pytest.raises(InvalidStatus):
                async with connect(f"ws://127.0.0.1:{port}/live", origin=origin or None):  # type: ignore[arg-type]
                    pass


async def said_to(view: LiveView, first: str | bytes) -> tuple[list[object], int | None]:
    """What a viewer is told who begins with this, until its first picture; and how its connection was closed."""
    port = view.url.split(":")[2].split("/")[0]
    told: list[object] = []
    async with connect(f"ws://127.0.0.1:{port}/live", origin=f"http://127.0.0.1:{port}") as viewer:  # type: ignore[arg-type]
        await viewer.send(first)
        try:
            async with asyncio.timeout(LIMIT_S):
                while not told or isinstance(told[-1], dict):
                    received = await viewer.recv()
                    told.append(json.loads(received) if isinstance(received, str) else received)
        except ConnectionClosed:
            return told, viewer.close_code
    return told, None


def hello(key: str) -> str:
    return json.dumps({"kind": "hello", "key": key})


@pytest.mark.browser
async def test_the_token_lets_one_browser_in_once_and_its_key_lets_it_in_again(page: Page, view: LiveView) -> None:
    token = view.url.partition("#")[2]
    for first in (
        hello(""),
        hello("x"),
        hello("used"),
        hello(token[:-1]),
        json.dumps({"kind": "hello", "key": [token]}),
        json.dumps({"kind": "control", "take": True, "key": token}),
        token,
        "[" * 5_000,
        b"\xff\x00",
    ):
        assert await said_to(view, first) == ([], 4003)
    assert not view.seen.is_set()
    (welcome, *_), code = await said_to(view, hello(token))
    assert isinstance(welcome, dict)
    assert (welcome["kind"], code) == ("welcome", None)
    await view.left.wait()
    assert token not in view.url
    assert await said_to(view, hello(token)) == ([], 4003)
    again, code = await said_to(view, hello(welcome["key"]))
    assert (bool(again), code) == (True, None)


@pytest.mark.browser
async def test_a_silent_connection_does_not_block_the_viewer(page: Page, view: LiveView) -> None:
    port = view.url.split(":")[2].split("/")[0]
    async with AsyncExitStack() as silent:
        for _ in range(20):
            await silent.enter_async_context(connect(f"ws://127.0.0.1:{port}/live", origin=f"http://127.0.0.1:{port}"))  # type: ignore[arg-type]
        assert await said_to(view, hello("x")) == ([], 4003)
        told, code = await said_to(view, hello(view.url.partition("#")[2]))
        assert (bool(told), code) == (True, None)


class Person:
    """Somebody at the viewer's page in a browser tab of its own."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, name: str) -> None:
        await self.page.get_by_role("button", name=name).click()

    async def touch(self, x: float, y: float) -> None:
        """At a part of the picture."""
        await self.js(
            f"(()=>{{const c=document.getElementById('screen'),b=c.getBoundingClientRect(),"
            f"at={{clientX:b.left+{x}*b.width,clientY:b.top+{y}*b.height,pointerId:1,bubbles:true,cancelable:true}};"
            "c.setPointerCapture=()=>{};"
            "for(const t of['pointerdown','pointerup'])c.dispatchEvent(new PointerEvent(t,at))})()"
        )

    async def js(self, expression: str) -> object:
        attachment = await self.page.attached()
        reply = await attachment.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True}, timeout_s=LIMIT_S
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    async def until(self, expression: str) -> None:
        await self.page.wait_for(function=expression, timeout_s=LIMIT_S)


@pytest.fixture
async def view(page: Page) -> AsyncIterator[LiveView]:
    async with live_view(page) as view:
        yield view


@pytest.fixture
async def person(
    webview_device: str, view: LiveView, local_server: LocalServer, adb_port: int
) -> AsyncIterator[Person]:
    """On a device of its own: the lease is for one session per device."""
    port = int(view.url.split(":")[2].split("/")[0])
    async with Session.open("virtual", grants=[TestServerGrant("127.0.0.1", port)], width_px=600) as theirs:
        person = Person(await theirs.new_page(view.url))
        await person.until("() => document.getElementById('state').textContent === 'watching'")
        await person.until(HAS_IMAGE)  # the server ignores touches until it knows the size of the picture
        yield person


async def place_of(page: Page, ref: str) -> tuple[float, float]:
    """Where the element's middle is, as parts of the picture."""
    await page.scroll_into_view_if_needed(ref)
    box = (await page.query(ref, "box", 100)).value
    return (box["left"] + box["width"] / 2) / 412, (box["top"] + box["height"] / 2) / 915


@pytest.mark.browser
async def test_a_person_takes_over_a_login_and_hands_back_while_an_operation_waits(
    page: Page, local_server: LocalServer, person: Person, view: LiveView
) -> None:
    await page.goto(local_server.url("controls.html"))
    ref = (await page.snapshot()).find(role="textbox", name="Name").ref
    at = await place_of(page, ref)

    await person.touch(*at)  # only watching: nothing may happen
    await person.press("Take over")
    await person.until("() => document.getElementById('state').textContent === 'you have taken over'")
    waiting = asyncio.create_task(page.press(ref, "End"))
    await person.touch(*at)
    await person.js("document.getElementById('text').value = 'typed by hand'")
    await person.press("Type")
    await asyncio.sleep(0)
    assert not waiting.done()
    await person.press("Hand back")
    async with asyncio.timeout(LIMIT_S):
        done = await waiting
    assert any("in use by a person who has taken over in the live view" in notice for notice in done.notices)
    assert (await page.query(ref, "value", 100)).value == "Adatyped by hand"
    assert view.handed_back == 1


@pytest.mark.browser
async def test_the_page_of_the_view_can_be_reloaded_and_its_address_cannot_be_passed_on(
    view: LiveView, person: Person, webview_device: str
) -> None:
    shown = "document.getElementById('state').textContent"
    assert await person.js("location.href") == view.url.partition("#")[0]
    await person.page.reload()
    await person.until(f"() => {shown} === 'watching'")
    passed_on = await person.js("history.state === null && location.hash === '' && document.cookie === ''")
    assert passed_on is True
    await person.js("sessionStorage.clear()")
    await person.page.reload()
    await person.until(f"() => {shown} === 'ended'")
    assert "Ask for a new one" in str(await person.js("document.getElementById('hint').textContent"))


@pytest.mark.browser
async def test_a_select_is_offered_to_the_person_and_not_tapped(
    page: Page, local_server: LocalServer, person: Person
) -> None:
    await page.goto(local_server.url("controls.html"))
    select = (await page.snapshot()).find(role="combobox")
    at = await place_of(page, select.ref)
    await person.press("Take over")
    await person.until("() => document.getElementById('state').textContent === 'you have taken over'")
    await person.touch(*at)
    await person.until("() => document.getElementById('options').open")
    assert await person.js("document.getElementById('list').selectedIndex") == 0
    await person.js("document.getElementById('list').selectedIndex = 1")
    await person.press("Choose")
    await person.press("Hand back")
    async with asyncio.timeout(LIMIT_S):
        assert (await page.query(select.ref, "value", 100)).value == "Medium"


@pytest.mark.browser
async def test_a_date_input_is_not_touched_and_the_viewer_explains_why(
    page: Page, local_server: LocalServer, person: Person
) -> None:
    await page.goto(local_server.url("controls.html"))
    day = (await page.snapshot()).find(name="Day").ref
    at = await place_of(page, day)
    await person.press("Take over")
    await person.until("() => document.getElementById('state').textContent === 'you have taken over'")
    await person.touch(*at)
    await person.until("() => document.getElementById('hint').textContent.includes('A date input cannot')")
    # A state message that arrives later must not replace the notice before the person acts again.
    await (await page.attached()).call("Runtime.evaluate", {"expression": "location.hash = 'later'"}, timeout_s=LIMIT_S)
    await person.until("() => document.getElementById('address').textContent.endsWith('#later')")
    assert "A date input cannot" in str(await person.js("document.getElementById('hint').textContent"))
    await person.press("Hand back")
    async with asyncio.timeout(LIMIT_S):
        assert (await page.fill(day, "2026-02-28")).value == "2026-02-28"


@pytest.mark.browser
async def test_a_key_that_would_open_a_select_offers_its_options_to_the_person(
    page: Page, local_server: LocalServer, view: LiveView
) -> None:
    await page.goto(local_server.url("controls.html"))
    select = (await page.snapshot()).find(role="combobox").ref
    await page.focus(select)
    async with looking_at(view) as viewer:
        await viewer.send(json.dumps({"kind": "control", "take": True}))
        async with asyncio.timeout(LIMIT_S):
            is_mine = has_picture = False
            while not (is_mine and has_picture):
                heard = await viewer.recv()
                has_picture = has_picture or isinstance(heard, bytes)
                is_mine = is_mine or '"in_control": true' in str(heard)
            await viewer.send(json.dumps({"kind": "key", "key": "Enter"}))
            while '"options"' not in (told := str(await viewer.recv())):
                pass
    assert json.loads(told)["options"][:2] == [["Small", False], ["Medium", False]]
    async with asyncio.timeout(LIMIT_S):
        assert (await page.query(select, "value", 100)).value == "Small"


@pytest.mark.browser
async def test_the_live_view_shows_the_tab(page: Page, local_server: LocalServer, person: Person) -> None:
    await page.goto(local_server.url("shop.html"))
    await person.until("() => document.getElementById('address').textContent.endsWith('shop.html')")
    await person.until(
        "() => { const c = document.getElementById('screen'), drawn = c.getContext('2d');"
        " return new Set(drawn.getImageData(0, 0, c.width, c.height).data).size > 20; }"
    )
    text = await person.js("document.getElementById('screen').toDataURL('image/png')")
    with Image.open(io.BytesIO(base64.b64decode(str(text).partition(",")[2]))) as picture:
        assert (picture.width / picture.height) == pytest.approx(412 / 915, rel=0.02)


@asynccontextmanager
async def looking_at(view: LiveView) -> AsyncIterator[ClientConnection]:
    port, _, token = view.url.split(":")[2].partition("/#")
    async with connect(f"ws://127.0.0.1:{port}/live", origin=f"http://127.0.0.1:{port}") as viewer:  # type: ignore[arg-type]
        await viewer.send(hello(token))
        yield viewer


@pytest.mark.browser
async def test_a_person_who_goes_away_hands_back(page: Page, view: LiveView) -> None:
    async with looking_at(view) as viewer:
        await viewer.send(json.dumps({"kind": "control", "take": True}))
        async with asyncio.timeout(LIMIT_S):
            while '"in_control": true' not in str(await viewer.recv()):
                pass
        waiting = asyncio.create_task(page.snapshot())
        await asyncio.sleep(0)
        assert not waiting.done()
    async with asyncio.timeout(LIMIT_S):
        await waiting
        await view.left.wait()
    assert view.handed_back == 1


@pytest.mark.browser
async def test_who_waits_for_an_operation_may_think_better_of_taking_over(
    page: Page, local_server: LocalServer, view: LiveView
) -> None:
    heard = asyncio.Event()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.set()

    log, listener = logging.getLogger("bridge.surfaces.live_view.server"), Listener()
    log.addHandler(listener)
    log.setLevel(logging.INFO)
    await page.goto(local_server.url("second.html"))
    async with looking_at(view) as viewer:
        waiting = asyncio.create_task(page.wait_for(function="() => window.go === 1", timeout_s=LIMIT_S))
        await viewer.recv()
        for message in ('{"kind":"control","take":true}', '{"kind":"control","take":false}', "no message"):
            await viewer.send(message)
        try:
            await asyncio.wait_for(heard.wait(), LIMIT_S)
        finally:
            log.removeHandler(listener)
            log.setLevel(logging.NOTSET)
        assert view.handed_back == 0
        attachment = await page.attached()
        await attachment.call("Runtime.evaluate", {"expression": "window.go = 1"}, timeout_s=LIMIT_S)
        await waiting


BROWSER = """
import json, sys
from urllib.parse import urlsplit
from websockets.sync.client import connect
view = urlsplit(sys.argv[1])
with connect(f"ws://{view.netloc}/live", origin=f"http://{view.netloc}") as viewer:
    viewer.send(json.dumps({"kind": "hello", "key": view.fragment}))
    assert json.loads(viewer.recv())["kind"] == "welcome"
"""


async def test_a_paused_page_goes_on_when_its_live_view_is_closed(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "_tryorder", [])
    with pytest.raises(UsageError, match="pause found no browser"):
        await asyncio.wait_for(page.pause(), 30)
    program = webbrowser.GenericBrowser([sys.executable, "-c", BROWSER, "%s"])
    webbrowser.register("one that looks and leaves", None, program, preferred=True)
    await asyncio.wait_for(page.pause(), 30)
    assert (await page.snapshot()).text
