"""`page.evaluate`, cookies and other parts of a browser context, and errors for names that are not here."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bridge import Session
from bridge.errors import DeadlineExceeded, ScriptFailed, UsageError
from bridge.page.page import Page
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser
HTML = "<!doctype html><title>Own</title><p id=first>One</p><p>Two</p><script>var word = 'main'</script>"


@pytest.fixture
async def session(webview_device: str) -> AsyncIterator[Session]:
    with own_site({"/": HTML}) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            await session.new_page(site.url())
            yield session


@pytest.fixture
def own(session: Session) -> Page:
    return session.pages[0]


async def test_values_arguments_and_statements(own: Page) -> None:
    assert await own.evaluate("1 + 1 // a comment") == 2
    assert await own.evaluate("let a = 2; a * 3") == 6
    assert await own.evaluate("async ({ a }) => [a, null, undefined]", {"a": "x"}) == ["x", None, None]
    assert await own.locator("p").evaluate_all("(all, n) => all.length + n", 1) == 3
    assert await own.evaluate_on(await own.locator("#first").ref(), "el => el.id") == "first"


async def test_variables_of_the_page_keep_their_names(own: Page) -> None:
    await own.evaluate("Object.assign(window, { a: 1, f: 2, all: 3, isList: 4 }) && null")
    assert await own.evaluate("[a, f, all, isList]") == [1, 2, 3, 4]
    assert await own.locator("#first").evaluate("() => [a, f, all, isList]") == [1, 2, 3, 4]
    assert await own.locator("article").evaluate_all("(none, n) => [none.length, n, a, f]", 5) == [0, 5, 1, 2]


async def test_isolated_scripts_share_the_dom_and_no_variables(own: Page) -> None:
    assert await own.evaluate("[word, document.title]") == ["main", "Own"]
    assert await own.evaluate("[typeof word, document.title]", isolated=True) == ["undefined", "Own"]


async def test_what_a_script_throws_has_the_stack_of_the_page(own: Page) -> None:
    with pytest.raises(ScriptFailed, match="threw TypeError: no such thing") as failed:
        await own.evaluate("() => { throw new TypeError('no such thing') }")
    assert "at " in failed.value.details["stack"]
    with pytest.raises(ScriptFailed, match="no value that can be returned"):
        await own.evaluate("() => { const ring = {}; ring.ring = ring; return ring }")


async def test_an_endless_script_is_stopped_at_the_deadline(own: Page) -> None:
    with pytest.raises(DeadlineExceeded, match="evaluating"):
        await own.evaluate("for (;;);", timeout_s=0.5)
    assert await own.evaluate("1") == 1


async def test_cookies_are_set_read_and_cleared(session: Session, own: Page) -> None:
    await session.add_cookies([{"name": name, "value": "1", "url": own.url} for name in ("a", "b")])
    assert sorted(cookie["name"] for cookie in await session.cookies(own.url)) == ["a", "b"]
    await session.clear_cookies(name="a")
    assert [cookie["name"] for cookie in await session.cookies()] == ["b"]
    with pytest.raises(UsageError, match="needs url, or domain and path"):
        await session.add_cookies([{"name": "c", "value": "1"}])


async def test_settings_of_a_session_hold_in_tabs_that_come(session: Session, own: Page) -> None:
    await session.add_init_script("window.early = true")
    later = await session.new_page(own.url)
    assert await later.evaluate("early") is True
    await own.reload()
    assert await own.evaluate("early") is True


async def test_a_raw_cdp_session_is_beside_the_bridges_own(session: Session, own: Page) -> None:
    raw = await session.new_cdp_session(own)
    seen: list[object] = []
    raw.on("Runtime.consoleAPICalled", seen.append)
    await raw.send("Runtime.enable")
    await own.evaluate("console.log('hello')")
    assert (await raw.send("Runtime.evaluate", {"expression": "word"}))["result"]["value"] == "main"
    assert len(seen) == 1
    await raw.detach()
    assert await own.evaluate("1") == 1


async def test_names_and_arguments_of_other_libraries_are_answered_helpfully(own: Page) -> None:
    with pytest.raises(UsageError, match=r"Timeouts are in seconds here: timeout_s=3\."):
        await own.goto("http://127.0.0.1/", timeout=3000)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="WebView prints no PDF"):
        own.pdf()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="Did you mean dblclick"):
        own.locator("p").double_click()  # type: ignore[attr-defined]


async def test_a_frame_evaluates_in_its_own_world(page: Page) -> None:
    await page.set_content("<iframe srcdoc='<title>Inner</title><script>var inside = 7</script>'></iframe>")
    frame = page.frame_locator("iframe")
    assert await frame.evaluate("() => [document.title, inside]") == ["Inner", 7]
    assert await frame.evaluate("inside + 1 // a comment") == 8
    assert await frame.evaluate("async (n) => inside * n", 6) == 42
