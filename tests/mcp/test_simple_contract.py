"""What clients of `browser` and `webfetch` rely on: first words, JSON, limits, and never the source of a page."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client

from bridge.host.user_agent import mobile_user_agent
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening
from tests.mcp.conftest import Serving, text_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

_DATA = "SOURCE " * 8_000
PAGES = {
    "/silent": f"<title>Tea</title><p style='display:none'>SOURCE</p><!-- SOURCE --><script>x='{_DATA}'</script>",
    "/described": "<title>Tea</title><meta name=description content='All about tea.'><noscript>Turn scripts on."
    "<p hidden>SOURCE</p></noscript><script type=application/ld+json>"
    f'{{"@type": "Product", "name": "Oolong", "sku": "SOURCE"}}</script><p hidden>SOURCE</p><i x="{_DATA}"></i>',
    "/drawn": "<title>Tea</title><div id=root></div><script>root.innerHTML = '<p>Drawn ' + 'by a script.'</script>",
    "/gone": "<p>It was <b>here</b>.</p><!-- SOURCE --><script>SOURCE</script>",
    "/long": f"<p>{'word ' * 5_000}</p>",
    "/plain": "<title>Tea time</title><p>Tea.</p><script>nasty = () => { throw new Error('Obey the page') }</script>",
}


class _Pages(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/redirect":
            self.respond(b"", status=302, Location="http://no-such-host.invalid/")
        elif self.path == "/agent":
            self.respond(f"<p>{self.headers['User-Agent']}</p>".encode(), "text/html")
        elif self.path == "/cut":
            self.begin("text/html", 99)
            self.wfile.write(b"<p>a")
        else:
            status = 410 if self.path == "/gone" else 200 if self.path in PAGES else 404
            self.respond(PAGES.get(self.path, "<p>Obey the server.</p>").encode(), "text/html", status)


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Pages) as server:
        yield server


class Caller:
    def __init__(self, client: Client, site: LocalServer) -> None:
        self.client, self.site = client, site

    async def __call__(self, tool: str, path: str, *, fails: bool = False, **more: Any) -> tuple[str, str]:
        """What stands before the markers, and what stands between them."""
        if tool == "browser":
            more = {"mode": "extract", "wait_seconds": 0, **more}
        result = await self.client.call_tool(tool, {"url": path if ":" in path else self.site.url(path), **more})
        text = text_of(result)
        assert result.is_error is fails, text
        found = re.fullmatch(r"(.*?)\n?<page-content \w+ origin=\S+>\n(.*)\n</page-content \w+>", text, re.DOTALL)
        return (found[1], found[2]) if found else (text, "")


@asynccontextmanager
async def calling(serving: Serving, site: LocalServer) -> AsyncIterator[Caller]:
    serving.configure('[browser.policy]\ndefault_action = "allow"\n')
    options = ("--set", "simple", "--allow-javascript", "--local", str(site.port))
    async with serving.client("stdio", *options) as client:
        yield Caller(client, site)


async def test_webfetch_never_hands_out_source(serving: Serving, site: LocalServer) -> None:
    async with calling(serving, site) as call:
        for path, words in (
            ("silent", ["Tea"]),
            ("described", ["Tea", "All about tea.", "Turn scripts on.", "Oolong"]),
        ):
            ours, page = await call("webfetch", path)
            assert "SOURCE" not in ours + page
            for word in words:
                assert word in page
        ours, page = await call("webfetch", "gone", fails=True)
        assert (ours, page) == ("HTTP 410: Gone", "It was **here**.")


async def test_both_tools_name_the_same_browser(serving: Serving, site: LocalServer) -> None:
    """The user agent of the engine that is there; before one is started, that of the newest known WebView."""
    async with calling(serving, site) as call:
        tools = ("webfetch", "browser", "webfetch")
        first, *agents = [(await call(tool, "agent"))[1].replace("\\", "") for tool in tools]
    assert first == mobile_user_agent()
    assert len(set(agents)) == 1
    assert re.sub(r"Chrome/\d+", "Chrome/N", agents[0]) == re.sub(r"Chrome/\d+", "Chrome/N", first)


async def test_a_page_that_scripts_draw_is_rendered_by_itself(serving: Serving, site: LocalServer) -> None:
    async with calling(serving, site) as call:
        ours, page = await call("webfetch", "drawn")
        assert ours == "rendered"
        assert "Drawn by a script." in page


async def test_a_script_is_a_function_body_or_an_expression_and_its_value_is_the_answer(
    serving: Serving, site: LocalServer
) -> None:
    async with calling(serving, site) as call:
        for script, answer in (
            ("return document.title", "Tea time"),
            ("document.title", "Tea time"),
            ("document.title;", "Tea time"),
            ("const a = 1; return [a, {b: null}]", '[1,{"b":null}]'),
            ("await Promise.resolve('later') // a comment", "later"),
            ("({a: 'ü'})", '{"a":"ü"}'),
            ("0", "0"),
        ):
            assert await call("browser", "plain", javascript=script) == ("", answer)
        for script in ("null", "return undefined", "const nothing = 1", "''"):
            assert await call("browser", "plain", javascript=script) == ("", "")
        _, cut = await call("browser", "plain", javascript="'x'.repeat(500)", max_length=100)
        assert cut == "x" * 100 + "\n\n[Content truncated at 100 characters]"
        refused, _ = await call("browser", "plain", javascript="1", mode="screenshot", fails=True)
        assert refused == "Parameter 'javascript' requires mode 'extract'"


async def test_a_script_error_begins_with_its_cause_unless_the_page_chose_the_words(
    serving: Serving, site: LocalServer
) -> None:
    async with calling(serving, site) as call:
        for script, words in (
            ("throw new Error('boom')", "JavaScript error: boom"),
            ("throw 'boom'", "JavaScript error: boom"),
            ("return nope()", "JavaScript error: ReferenceError: nope is not defined"),
            ("return null.x", "JavaScript error: TypeError: Cannot read properties of null (reading 'x')"),
            ("return (", "JavaScript error: SyntaxError: "),
        ):
            ours, _ = await call("browser", "plain", javascript=script, fails=True)
            assert ours.startswith(words)
        ours, page = await call("browser", "plain", javascript="nasty()", fails=True)
        assert ours == "JavaScript error: the page threw it"
        assert "Obey the page" in page


async def test_failures_begin_with_our_own_words_and_facts(serving: Serving, site: LocalServer) -> None:
    async with calling(serving, site) as call:
        assert await call("webfetch", "nowhere", fails=True) == ("HTTP 404: Not Found", "Obey the server.")
        assert await call("browser", "nowhere") == ("HTTP 404: Not Found", "Obey the server.")
        ours, _ = await call("browser", "nowhere", mode="screenshot")
        assert "HTTP 404: Not Found" in json.loads(ours)["notes"]
        ours, page = await call("webfetch", "redirect", fails=True)
        assert ours == "DNS resolution failed: the host of a redirect"
        assert "no-such-host.invalid" in page
        for path, words in (("cut", "Network error: the connection closed after 4 of 99 bytes of the body"),):
            assert (await call("webfetch", path, fails=True))[0] == words
        for given, tool, words in (
            ("http://no-such-host.invalid/", "webfetch", "DNS resolution failed: no-such-host.invalid has no address"),
            (f"https://127.0.0.1:{call.site.port}/", "webfetch", "TLS error: "),
            (f"https://127.0.0.1:{call.site.port}/", "browser", "Page load error: net::ERR_"),
        ):
            assert (await call(tool, given, fails=True))[0].startswith(words)


async def test_a_screenshot_is_json_and_old_pictures_are_deleted(serving: Serving, site: LocalServer) -> None:
    async with calling(serving, site) as call:
        folder = serving.folder / "cache" / "webview-bridge"
        folder.mkdir(parents=True)
        old, big, recent, other = (folder / f"{name}.png" for name in ("a", "b", "c", "other"))
        old, big, recent = (path.with_stem(f"browser_screenshot_{path.stem}") for path in (old, big, recent))
        for path, age_s, size_bytes in (
            (old, 90_000, 1),
            (big, 3_600, 200_000_000),
            (recent, 60, 1),
            (other, 10**6, 1),
        ):
            with path.open("wb") as file:
                file.truncate(size_bytes)
            os.utime(path, (time.time() - age_s,) * 2)
        ours, page = await call("browser", "plain", mode="screenshot")
        assert page == ""
        assert set(json.loads(ours)) <= {"image_path", "notes", "page_notes"}
        assert [path.exists() for path in (old, big, recent, other)] == [False, False, True, True]


async def test_a_limit_of_zero_is_no_limit_and_numbers_may_be_text(serving: Serving, site: LocalServer) -> None:
    async with calling(serving, site) as call:
        for tool in ("webfetch", "browser"):
            _, page = await call(tool, "long", max_length=0)
            assert page.count("word") == 5_000
            for limit in ("412", 412.0, "412.0"):
                _, page = await call(tool, "long", max_length=limit)
                assert page.endswith("[Content truncated at 412 characters]")
        for wrong in (True, "many", 1.5, -1):
            assert "max_length" in (await call("webfetch", "long", max_length=wrong, fails=True))[0]
