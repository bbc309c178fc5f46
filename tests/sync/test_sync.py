"""`bridge.sync`: the same objects without `await`."""

from __future__ import annotations

import pydoc
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bridge.errors import ExpectationFailed, NavigationFailed, RefNotFound, UsageError
from bridge.page.fetch_messages import Fulfil, PausedRequest
from bridge.surfaces.blocking import SHARED_LOOP
from bridge.sync import Page, Session, expect
from tests.conftest import LocalServer

ROOT = Path(__file__).parent.parent.parent


def test_stubs_match_the_asynchronous_classes() -> None:
    subprocess.run([sys.executable, "tools/sync_stubs.py", "--check"], check=True, cwd=ROOT)


def test_type_checker_knows_the_blocking_classes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from bridge.sync import Session, expect\n"
        "with Session.open() as session:\n"
        "    page = session.new_page()\n"
        "    reveal_type(page.goto('https://example.com/').status)\n"
        "    expect(page.locator('h1').nth(0)).not_to_have_text('x', timeout_s=2)\n"
        "    page.goto(7)\n"
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", str(script)]
    said = subprocess.run(mypy, capture_output=True, text=True, cwd=ROOT, check=False).stdout
    assert 'Revealed type is "Union[builtins.int, None]"' in said or 'Revealed type is "int | None"' in said
    assert 'Argument 1 to "goto"' in said
    assert "Found 1 error" in said


def bridge_threads() -> int:
    """The plugin keeps the device that all tests share in one of its own."""
    return [thread.name for thread in threading.enumerate()].count("webview-bridge")


@pytest.mark.browser
def test_sync_script_works_like_the_asynchronous_one(webview_device: str, local_server: LocalServer) -> None:
    before = bridge_threads()
    with Session.open(webview_device, grants=[local_server.grant]) as session:
        page = session.new_page(local_server.url("shop.html"))
        assert isinstance(page, Page)
        assert session.pages == (page,)
        assert page.url == local_server.url("shop.html")
        shot = page.snapshot()
        result = page.click(shot.find(role="button", name="Add to cart", nth=1).ref)
        assert "Cart: 1" in result.changes.text
        with pytest.raises(RefNotFound):
            page.click("e9999")
        page.get_by_role("button", name="Nothing").click()
        page.route(
            "**/no-such-page", lambda _: Fulfil(headers={"content-type": "text/html"}, body=b"<title>Stub</title>")
        )
        assert page.goto(local_server.url("no-such-page")).title == "Stub"
        assert repr(page) == "<blocking <Page t1>>"
        expect(page).to_have_title("Stub")
        with pytest.raises(ExpectationFailed, match="last seen"):
            expect(page.get_by_role("button")).not_to_have_count(0, timeout_s=0.2)
        page.close()
        assert session.pages == ()
    assert bridge_threads() == before
    assert SHARED_LOOP._loop is None
    with pytest.raises(UsageError, match="the session is closed"):
        page.snapshot()


@pytest.mark.browser
def test_handler_that_calls_the_page_is_refused(webview_device: str, local_server: LocalServer) -> None:
    seen: list[str] = []
    with Session.open(webview_device, grants=[local_server.grant]) as session:
        page = session.new_page()

        def handler(request: PausedRequest) -> None:
            try:
                page.snapshot()
            except UsageError as error:
                seen.append(str(error))
                raise

        page.route("**/second.html", handler)
        with pytest.raises(NavigationFailed):
            page.goto(local_server.url("second.html"))
    assert "which would deadlock" in seen[0]


@pytest.mark.browser
def test_error_in_the_block_ends_the_session_and_is_raised(
    webview_device: str,
) -> None:
    def fails() -> None:
        with Session.open(webview_device) as session:
            session.new_page()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert SHARED_LOOP._loop is None


def test_help_shows_what_the_asynchronous_method_says() -> None:
    text = pydoc.plain(pydoc.render_doc(Page.click))
    assert "click(self, selector: 'str', *, timeout_s: 'float | None' = None, settle_s: 'float' = 1.0" in text
    assert "Tap an element and report what changed." in text
    assert "async" not in text.partition("\n\n")[0]
    assert "The address of the main document" in pydoc.plain(pydoc.render_doc(Page))
    assert "Select the device" in str(Session.open.__doc__)
