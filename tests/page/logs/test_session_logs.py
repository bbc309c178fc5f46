"""Console and network logs of a session, from its first page on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import NavigationFailed, UsageError
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.page import Page
from bridge.surfaces.local_server import QuietHandler, listening
from tests.temp_devices import own_device

SECRET = "open-sesame"
PAGE = """<!doctype html><title>Logs</title><script>
console.log('hello %s', 'world', {a: 1, b: 'two'}, [1, 2]);
console.warn('careful');
console.error('wrong');
console.debug('detail');
function fails() { throw new Error('broken'); }
setTimeout(function later() { fails(); });
Promise.reject(new TypeError('refused'));
fetch('/data.json?q=1', {headers: {Authorization: 'Bearer SECRET'}}).then(() => fetch('/nothing'))
  .then(() => fetch('http://127.0.0.1:39999/closed').catch(() => 0)).then(() => fetch('/away'));
</script><p>Logs</p>""".replace("SECRET", SECRET)


class _Server(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/away":
            self.respond(b"", status=302, Location="/data.json")
            return
        found = {"/": ("text/html", PAGE.encode()), "/data.json": ("application/json", b'{"n":1}' * 500)}
        kind, body = found.get(self.path.partition("?")[0], ("", b"nothing"))
        cookie = f"session={SECRET}; HttpOnly"
        self.respond(body, kind or "text/plain", 200 if kind else 404, Set_Cookie=cookie)


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with listening(_Server) as server:
        yield server.port


@pytest.fixture
async def logged(webview_device: str, server: int) -> AsyncIterator[tuple[Session, Page]]:
    async with Session.open(webview_device, grants=[TestServerGrant("127.0.0.1", server)]) as session:
        page = await session.new_page(f"http://127.0.0.1:{server}/")
        await page.wait_for(selector="p")
        await settled(page)
        yield session, page


async def settled(page: Page) -> None:
    attachment = await page.attached()
    await attachment.condition.wait(
        lambda: any(entry.url.endswith("data.json") and entry.state == "done" for entry in page.network()),
        timeout_s=10,
    )


@pytest.mark.browser
async def test_console_entries_have_levels_locations_and_stacks(logged: tuple[Session, Page]) -> None:
    _, page = logged
    by_text = {entry.text: entry for entry in page.console()}
    hello = by_text["hello world {a: 1, b: two} [1, 2]"]
    assert (hello.level, hello.kind) == ("info", "console")
    assert hello.location.endswith("/:2:9")
    broken = by_text["Error: broken"]
    assert (broken.level, broken.kind) == ("error", "exception")
    assert broken.stack[0].startswith("fails (http://127.0.0.1:")
    assert broken.stack[1].startswith("later (")
    assert "Uncaught (in promise) TypeError: refused" in by_text
    missing = [entry.location for entry in page.console() if entry.kind == "network" and "404" in entry.text]
    assert any(location.endswith("/nothing") for location in missing)
    assert [entry.text for entry in page.console(level="warning", text="CARE")] == ["careful"]
    assert all(entry.level == "error" for entry in page.console(level="error"))
    newest = page.console(limit=1)
    assert (len(newest), newest.more > 0) == (1, True)
    assert len(page.console(after=newest.last)) == 0


@pytest.mark.browser
async def test_request_entries_have_outcome_size_timing_initiator_and_address(
    logged: tuple[Session, Page], server: int
) -> None:
    _, page = logged
    document = page.network(resource_type="document").entries[0]
    assert (document.status, document.method, document.state) == (200, "GET", "done")
    assert document.remote_address.startswith("127.0.0.1:")
    assert document.duration_ms is not None
    assert document.body_bytes == len(PAGE.encode())
    assert document.encoded_bytes > document.body_bytes
    data = page.network(url="*/data.json?q=1").entries[0]
    assert data.initiator.startswith(f"script http://127.0.0.1:{server}/")
    assert data.body_bytes == 3_500
    assert [entry.url.rpartition("/")[2] for entry in page.network(status="4xx") if "favicon" not in entry.url] == [
        "nothing"
    ]
    refused = page.network(failed=True).entries[0]
    assert (refused.failure.partition(".")[0], refused.status) == ("net::ERR_BLOCKED_BY_CLIENT", None)
    away = page.network(status=302).entries[0]
    assert (away.state, away.redirect_url) == ("redirected", f"http://127.0.0.1:{server}/data.json")


@pytest.mark.browser
async def test_a_har_is_complete_and_has_no_credentials(logged: tuple[Session, Page]) -> None:
    session, page = logged
    archive = page.har()
    check_har(archive)
    text = json.dumps(archive)
    assert SECRET not in text
    assert SECRET not in json.dumps(page.network().to_json())
    assert "authorization" in text
    assert SECRET in json.dumps(page.har(redact=False))
    log = session.logs.har()["log"]
    assert len(log["entries"]) == len(page.network())
    assert log["pages"][0]["pageTimings"]["onLoad"] > 0
    document = next(entry for entry in log["entries"] if entry["_resourceType"] == "document")
    assert document["pageref"] == log["pages"][0]["id"]
    assert document["timings"]["wait"] > 0
    failures = [entry["response"]["_error"] for entry in log["entries"] if "_error" in entry["response"]]
    assert [failure.partition(".")[0] for failure in failures] == ["net::ERR_BLOCKED_BY_CLIENT"]


def check_har(archive: dict[str, Any]) -> None:
    """What HAR 1.2 requires of each object, by name and type."""
    log = archive["log"]
    assert log["version"] == "1.2"
    assert set(log["creator"]) >= {"name", "version"}
    pages = {page["id"] for page in log["pages"]}
    number = (int, float)
    for page in log["pages"]:
        assert isinstance(page["title"], str)
        assert page["startedDateTime"].endswith("Z")
        assert all(isinstance(page["pageTimings"][name], number) for name in ("onContentLoad", "onLoad"))
    for entry in log["entries"]:
        assert entry.get("pageref") is None or entry["pageref"] in pages
        assert entry["startedDateTime"].endswith("Z")
        assert entry["time"] >= 0
        assert isinstance(entry["cache"], dict)
        request, response, timings = entry["request"], entry["response"], entry["timings"]
        for name, kind in (("method", str), ("url", str), ("httpVersion", str), ("cookies", list), ("headers", list),
                           ("queryString", list), ("headersSize", int), ("bodySize", int)):  # fmt: skip
            assert isinstance(request[name], kind), name
        for name, kind in (("status", int), ("statusText", str), ("httpVersion", str), ("cookies", list),
                           ("headers", list), ("redirectURL", str),
                           ("headersSize", int), ("bodySize", int)):  # fmt: skip
            assert isinstance(response[name], kind), name
        assert {"size", "mimeType"} <= set(response["content"])
        assert all(timings[name] >= 0 for name in ("send", "wait", "receive"))
        assert all(isinstance(value, number) for value in timings.values())
        for listed in (*request["headers"], *response["headers"], *request["cookies"], *request["queryString"]):
            assert {"name", "value"} <= set(listed)


@pytest.mark.browser
async def test_a_request_to_an_unknown_host_is_logged(logged: tuple[Session, Page]) -> None:
    _, page = logged
    with pytest.raises(NavigationFailed):
        await page.goto("http://no-such-host.invalid/")
    assert page.network(failed=True).entries[-1].failure.startswith("net::ERR_")


@pytest.mark.browser
async def test_logs_continue_without_duplicates_after_a_tab_is_reopened(adb_port: int, server: int) -> None:
    async with (
        own_device(idle_timeout_s=8.0) as device,
        Session.open(device.serial, grants=[TestServerGrant("127.0.0.1", server)]) as session,
    ):
        lost = asyncio.Event()
        session.host_client.on_event(lambda name, _: lost.set() if name == "idle_destroyed" else None)
        page = await session.new_page(f"http://127.0.0.1:{server}/")
        await settled(page)
        before = [entry.text for entry in page.console()].count("careful")
        async with asyncio.timeout(40):
            await lost.wait()
        assert (before, [entry.text for entry in page.console()].count("careful")) == (1, 1)
        await page.snapshot()
        await settled(page)
        assert [entry.text for entry in page.console()].count("careful") == 2
        numbers = [entry.number for entry in page.network()]
        assert numbers == sorted(set(numbers))
        await page.close()
        assert len(session.logs.console(tab_id="t1")) > 0


def test_both_logs_are_bounded_and_count_dropped_entries() -> None:
    logs = SessionLogs(console_kept=10, requests_kept=20)
    reduce, requests = logs.reader("t1"), logs.request_reducer("t1")
    for number in range(100):
        reduce("Runtime.consoleAPICalled", {"type": "log", "timestamp": number, "args": [{"value": "x" * 9_000}]}, None)
        request = {"url": f"http://h/{number}", "method": "GET", "headers": {}}
        requests.reduce(
            "Network.requestWillBeSent", {"requestId": str(number), "request": request, "timestamp": number}
        )
    console, network = logs.console(limit=1_000), logs.network(limit=1_000)
    assert (len(console), console.dropped, console.last) == (10, 90, 100)
    assert (len(network), network.dropped, network.last) == (20, 80, 100)
    assert len(console.entries[0].text) < 4_100


def test_a_closed_tab_keeps_its_entries_until_newer_ones_of_any_tab_replace_them() -> None:
    logs = SessionLogs(console_kept=10)
    for tab_id in ("t1", "t2"):
        reduce = logs.reader(tab_id)
        for number in range(6):
            said = {"type": "log", "timestamp": number, "args": [{"value": f"{tab_id} {number}"}]}
            reduce("Runtime.consoleAPICalled", said, None)
        logs.forget_tab(tab_id)
    assert [entry.text for entry in logs.console(tab_id="t1")] == ["t1 2", "t1 3", "t1 4", "t1 5"]
    assert len(logs.console(tab_id="t2")) == 6
    assert len(logs.console()) == 10
    for read in (logs.console, logs.network, logs.har):
        with pytest.raises(UsageError, match="unknown tab 't3'"):
            read(tab_id="t3")


def test_a_request_of_a_closed_tab_is_not_pending_any_more() -> None:
    logs = SessionLogs()
    requests = logs.request_reducer("t1")
    for number in ("1", "2"):
        request = {"url": f"http://h/{number}", "method": "GET", "headers": {}}
        requests.reduce("Network.requestWillBeSent", {"requestId": number, "request": request, "timestamp": 1})
    requests.reduce("Network.loadingFailed", {"requestId": "1", "timestamp": 2, "errorText": "net::ERR_FAILED"})
    logs.forget_tab("t1")
    assert [entry.state for entry in logs.network()] == ["failed", "lost"]


def test_messages_that_runtime_enable_repeats_are_logged_once() -> None:
    logs = SessionLogs()
    said = {"type": "log", "timestamp": 1.5, "args": [{"value": "once"}]}
    for _ in range(2):
        reduce = logs.reader("t1")
        reduce("Runtime.consoleAPICalled", said, None)
        reduce("Runtime.consoleAPICalled", said, None)
    assert len(logs.console()) == 1


def test_events_of_an_unknown_shape_do_not_stop_the_log() -> None:
    logs = SessionLogs()
    reduce, requests = logs.reader("t1"), logs.request_reducer("t1")
    for method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Network.responseReceived"):
        for params in ({}, {"args": 7, "exceptionDetails": 1, "entry": [], "requestId": "1", "response": None}):
            reduce(method, params, None)
            requests.reduce(method, params)
    reduce("Runtime.consoleAPICalled", {"type": "log", "args": [{"value": "still here"}]}, None)
    assert logs.console().entries[-1].text == "still here"


def test_invalid_filters_are_usage_errors() -> None:
    logs = SessionLogs()
    for wrong in ({"level": "loud"}, {"limit": 0}):
        with pytest.raises(UsageError):
            logs.console(**wrong)  # type: ignore[arg-type]
    for status in ("7xx", "abc", 99):
        with pytest.raises(UsageError):
            logs.network(status=status)
