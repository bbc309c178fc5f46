"""Events and logs beside what servers saw: what was refused has reached no server, and what was logged has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bridge import Session
from bridge.ops import BrowserPolicyDenied, Event, Executor
from bridge.ops.results import PageText
from bridge.policy import BrowserPolicy
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

_ICON = "/favicon.ico"
_PAGE = """<title>Asks</title><img src="OTHER/image"><img src="/mine.png"><link rel=stylesheet href="OTHER/style">
<iframe src="OTHER/frame"></iframe><a href="OTHER/link">Link</a><a href="/away">Redirect</a>
<form action="OTHER/form"><button>Form</button></form>
<button onclick="location = 'OTHER/script'">Script</button>
<button onclick="Promise.allSettled([fetch('/fetched'), fetch('OTHER/fetch', {mode: 'no-cors'}),
  fetch('/away?fetch', {mode: 'no-cors'})]).then(() => { new WebSocket('SOCKET/socket').onerror = () => {
  navigator.sendBeacon('OTHER/beacon'); document.title = 'Asked' } })">Ask</button>"""


@contextmanager
def _serving(page: str, other: str = "") -> Iterator[tuple[LocalServer, list[str]]]:
    """A server, and the paths that it was asked for."""
    seen: list[str] = []

    class Site(QuietHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            if self.path.startswith("/away"):
                self.respond(b"", status=302, Location=f"{other}/redirected")
            else:
                self.respond(page.encode())

        do_POST = do_GET

    with listening(Site) as server:
        yield server, seen


async def test_what_is_refused_reaches_no_server_and_what_is_logged_has(webview_device: str) -> None:
    events: list[Event] = []
    with _serving("<h1>Not allowed</h1>") as (other, seen_by_other):
        html = _PAGE.replace("OTHER", other.origin).replace("SOCKET", other.origin.replace("http", "ws"))
        with _serving(html, other.origin) as (site, seen):
            policy = BrowserPolicy(default_action="allow")
            async with Session.open(webview_device, policy=policy, grants=[site.grant]) as session:
                executor = Executor(session, on_event=events.append)
                assert (await executor.run_source({"kind": "navigate", "url": site.url()})).ok
                names = ("Link", "Redirect", "Form", "Script")
                refused = [await _click(executor, name) for name in names]
                assert await _click(executor, "Ask") is None
                page = session.pages[0]
                await page.wait_for_function("document.title == 'Asked'")
                assert (await executor.run_source({"kind": "get_state"})).ok
                logged = [entry for entry in page.network().entries if entry.url.startswith(site.origin)]
    assert [code for code in refused if code != "policy_refused"] == []
    assert seen_by_other == []
    denied = [event for event in events if isinstance(event, BrowserPolicyDenied)]
    assert {event.page for event in denied} == {site.url()}
    assert [event.url for event in denied if event.kind == "Document" and "/frame" not in event.url] == [
        other.url(path) for path in ("link", "redirected", "form?", "script")
    ]
    assert [event.url.partition(":")[0] for event in denied if event.kind != "Document"] == ["http", "ws"]
    asked_for = [entry.url.removeprefix(site.origin) for entry in logged]
    # The browser asks for the icon when it likes.
    assert sorted(path for path in asked_for if path != _ICON) == sorted(path for path in seen if path != _ICON)


async def _click(executor: Executor, name: str) -> str | None:
    """The code of the error of a click, None if it went well."""
    shot = await executor.run_source({"kind": "snapshot"})
    assert isinstance(shot.result, PageText)
    found = re.search(rf'"{name}".*\[ref=(e\d+)\]', shot.result.text)
    assert found is not None
    answer = await executor.run_source({"kind": "click", "ref": found[1]})
    return answer.error.code if answer.error is not None else None
