"""Requests fulfilled, changed and aborted by routes. The web server counts what reaches it."""

from __future__ import annotations

import asyncio
import re

import pytest

from bridge.errors import NavigationFailed, UsageError
from bridge.page.fetch_domain import Rank
from bridge.page.fetch_messages import Abort, Fulfil, PausedRequest, Proceed, RouteAction
from bridge.page.page import Page
from bridge.page.url_pattern import url_pattern
from tests.conftest import LocalServer

FETCH = "fetch('/second.html').then(r=>r.text()).then(t=>document.title=t.slice(0,200),e=>document.title='failed '+e)"


async def run(page: Page, source: str) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": source}, timeout_s=20)


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("**/*.png", "https://a.example/x/y.png", True),
        ("**/*.png", "https://a.example/x/y.png?z", False),
        ("https://a.example/*", "https://a.example/x/y", False),
        ("https://a.example/**", "https://a.example/x/y", True),
        ("**/{a,b}.js", "http://h/b.js", True),
        ("**/{a,b}.js", "http://h/c.js", False),
        ("http://h/?q=1", "http://h/?q=1", True),
        ("http://h/?q=1", "http://h/xq=1", False),
        (re.compile(r"/api/\d+$"), "http://h/api/12", True),
    ],
)
def test_url_patterns_match_like_globs(pattern: str | re.Pattern[str], url: str, matches: bool) -> None:
    assert url_pattern(pattern).matches(url) is matches


@pytest.mark.parametrize("pattern", ["", "**/{a,b", "a}"])
def test_an_invalid_url_pattern_is_a_usage_error(pattern: str) -> None:
    with pytest.raises(UsageError):
        url_pattern(pattern)


pytestmark = pytest.mark.browser


async def test_a_route_fulfils_a_request_without_the_server(page: Page, local_server: LocalServer) -> None:
    body = b"<title>Stubbed</title><h1>From the test</h1>"
    await page.route("**/no-such-page", Fulfil(203, {"content-type": "text/html"}, body))
    there = await page.goto(local_server.url("no-such-page"))
    assert (there.status, there.title) == (203, "Stubbed")
    assert await page.unroute("**/no-such-page") == 1
    assert (await page.goto(local_server.url("no-such-page"))).status == 404


async def test_a_route_aborts_a_request_with_a_reason(page: Page, local_server: LocalServer) -> None:
    await page.route("**/second.html", Abort("ConnectionReset"))
    with pytest.raises(NavigationFailed, match="ERR_CONNECTION_RESET"):
        await page.goto(local_server.url("second.html"))


async def test_a_route_changes_a_request(page: Page, local_server: LocalServer) -> None:
    seen: list[PausedRequest] = []

    async def elsewhere(request: PausedRequest) -> RouteAction:
        seen.append(request)
        return Proceed(url=local_server.url("shop.html"))

    await page.route(re.compile(r"/second\.html$"), elsewhere)
    there = await page.goto(local_server.url("second.html"))
    assert (there.title, there.url) == ("Gold prices", local_server.url("second.html"))
    assert [(request.method, request.kind) for request in seen] == [("GET", "Document")]


async def test_the_newest_route_comes_first_and_may_leave_the_decision_to_the_next(
    page: Page, local_server: LocalServer
) -> None:
    asked: list[str] = []

    def without_opinion(request: PausedRequest) -> None:
        asked.append(request.url)

    await page.route("**/*.html", Fulfil(body=b"older"))
    await page.route("**/*.html", without_opinion)
    await page.goto(local_server.url("no-such-page"))
    await run(page, FETCH)
    await page.wait_for(function="document.title == 'older'", timeout_s=20)
    assert asked == [local_server.url("second.html")]


async def test_a_failing_route_refuses_only_its_own_request(page: Page, local_server: LocalServer) -> None:
    def broken(_request: PausedRequest) -> RouteAction:
        raise RuntimeError("a mistake of the test's")

    await page.goto(local_server.url("no-such-page"))
    await page.route("**/second.html", broken)
    await run(page, FETCH)
    await page.wait_for(function="document.title.startsWith('failed')", timeout_s=20)
    attachment = await page.attached()
    assert "a mistake of the test's" in attachment.fetching.failures[0]


async def test_a_body_may_be_text(page: Page, local_server: LocalServer) -> None:
    await page.goto(local_server.url("no-such-page"))
    await page.route("**/second.html", Fulfil(body="5 \N{EURO SIGN}"))
    await run(page, FETCH)
    await page.wait_for(function="document.title == '5 \N{EURO SIGN}'", timeout_s=20)
    with pytest.raises(UsageError, match="not dict"):
        Fulfil(body={"a": 1})  # type: ignore[arg-type]


@pytest.mark.parametrize("verdict", [Fulfil(headers={"x": object()}), Fulfil(body="\ud800")])  # type: ignore[dict-item]
async def test_a_response_that_cannot_be_sent_fails_its_request(
    page: Page, local_server: LocalServer, verdict: RouteAction
) -> None:
    await page.goto(local_server.url("no-such-page"))
    await page.route("**/second.html", verdict)
    await run(page, FETCH)
    await page.wait_for(function="document.title.startsWith('failed')", timeout_s=20)
    attachment = await page.attached()
    assert len(attachment.fetching.failures) == 1


async def test_the_policy_comes_before_routes_and_checks_changed_urls(page: Page, local_server: LocalServer) -> None:
    asked: list[str] = []

    async def judge(request: PausedRequest) -> RouteAction | None:
        asked.append(request.url)
        return Abort("BlockedByClient") if "second" in request.url else None

    attachment = await page.attached()
    await attachment.fetching.add(judge, rank=Rank.POLICY, timeout_s=20)
    await page.route("**/no-such-page", Proceed(url=local_server.url("second.html")))
    with pytest.raises(NavigationFailed, match="ERR_BLOCKED_BY_CLIENT"):
        await page.goto(local_server.url("no-such-page"))
    assert asked == [local_server.url("no-such-page"), local_server.url("second.html")]


async def test_a_slow_route_delays_only_its_own_request(page: Page, local_server: LocalServer) -> None:
    release = asyncio.Event()

    async def slow(_request: PausedRequest) -> RouteAction:
        await release.wait()
        return Fulfil(body=b"at last")

    await page.goto(local_server.url("shop.html"))
    await page.route("**/second.html", slow)
    await run(page, FETCH)
    assert (await page.snapshot()).title == "Gold prices"
    release.set()
    await page.wait_for(function="document.title == 'at last'", timeout_s=20)
