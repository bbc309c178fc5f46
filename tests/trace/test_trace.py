"""A trace: recorded from a real session, opened in a real browser, replayed as a real test."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bridge import Session, expect
from bridge.errors import DeadlineExceeded, PolicyRefused, UsageError
from bridge.page.page import Page
from bridge.surfaces.pytest_plugin.local_server import LocalServer, serving
from bridge.surfaces.trace.document import read_trace, to_html, write_trace
from bridge.surfaces.trace.images import MAX_SCREENSHOT_BYTES, MAX_TOTAL_BYTES, TraceImages
from bridge.surfaces.trace.replay import test_source as replayed
from bridge.virtual_device import find_chromium
from tests.pytest_plugin.conftest import SAMPLE

pytestmark = pytest.mark.browser

HOSTILE = '</script><img src=x onerror="document.title=1"><!--\u2028'


@pytest.fixture(scope="session")
def shop() -> Any:
    with serving(SAMPLE / "pages") as server:
        yield server


@pytest.fixture
def traced(webview_device: str, shop: LocalServer, tmp_path: Path) -> Callable[[], Any]:
    return lambda: Session.open(webview_device, grants=[shop.grant], trace=tmp_path / "trace.html")


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    return lambda: read_trace(tmp_path / "trace.html")


def operations(trace: dict[str, Any]) -> list[str]:
    return [operation["code"] for operation in trace["operations"]]


async def order(page: Page, url: str) -> None:
    await page.goto(url)
    await page.snapshot()
    await page.get_by_label("Name").fill("Ann")
    await page.get_by_role("button", name=re.compile("^ord", re.IGNORECASE)).click()
    await expect(page.get_by_role("status")).to_have_text("Thank you, Ann")


async def test_every_operation_is_recorded_once_with_its_outcome(
    traced: Callable[[], Any], recorded: Callable[[], dict[str, Any]], shop: LocalServer
) -> None:
    async with traced() as session:
        page = await session.new_page()
        await order(page, shop.url("shop.html"))
        ref = (await page.snapshot()).find(role="button").ref
        await page.click(ref)

    trace = recorded()
    assert operations(trace) == [
        f"page.goto('{shop.url('shop.html')}')",
        "page.snapshot()",
        "page.get_by_label('Name').fill('Ann')",
        "page.get_by_role('button', name=re.compile('^ord', re.IGNORECASE)).click()",
        "expect(page.get_by_role('status')).to_have_text('Thank you, Ann')",
        "page.snapshot()",
        f"page.click('{ref}')",
    ]
    clicked, by_ref = trace["operations"][3], trace["operations"][6]
    assert 'status "Thank you, Ann"' in clicked["delta"]
    assert 'status "Thank you, Ann"' not in trace["snapshots"][clicked["before"]]
    assert 'status "Thank you, Ann"' in trace["snapshots"][clicked["after"]]
    assert clicked["cost"]["round_trips"] >= 1
    assert trace["console"][clicked["console"][0] - 1]["text"] == "no stock was checked"
    assert by_ref["element"] == {"ref": ref, "role": "button", "name": "Order", "nth": 0, "of": 1}
    opened = trace["operations"][0]
    assert trace["network"][opened["network"][0] - 1]["url"] == shop.url("shop.html")
    assert {entry["decision"] for entry in trace["policy"]} == {"allow"}
    assert trace["screenshots"][opened["screenshot"]] != trace["screenshots"][clicked["screenshot"]]


async def test_a_part_of_a_session_is_traced_between_start_and_stop(
    webview_device: str, shop: LocalServer, tmp_path: Path, recorded: Callable[[], dict[str, Any]]
) -> None:
    async with Session.open(webview_device, grants=[shop.grant]) as session:
        page = await session.new_page(shop.url("shop.html"))
        with pytest.raises(UsageError, match="no trace was started"):
            await session.tracing.stop()
        await page.title()
        await session.tracing.start()
        with pytest.raises(UsageError, match="traced already"):
            await session.tracing.start()
        await page.get_by_label("Name").fill("Ann")
        await session.tracing.stop(path=tmp_path / "trace.html")
        await page.reload()
        assert [entry["name"] for entry in recorded()["operations"]] == ["fill"]
        await session.tracing.start()
        await page.title()
        await session.tracing.stop()
        await session.tracing.start()  # and is dropped with the session
    assert [entry["name"] for entry in recorded()["operations"]] == ["fill"]


async def test_failures_are_recorded_and_raised_as_without_a_trace(
    traced: Callable[[], Any], recorded: Callable[[], dict[str, Any]], shop: LocalServer
) -> None:
    async with traced() as session:
        page = await session.new_page(shop.url("shop.html"))
        with pytest.raises(PolicyRefused):
            await page.goto("http://169.254.169.254/")
        with pytest.raises(DeadlineExceeded):
            await page.get_by_role("button", name="Pay").click(timeout_s=0.1)

    outcomes = [(entry["outcome"], entry.get("error", {}).get("code")) for entry in recorded()["operations"]]
    assert outcomes == [("ok", None), ("failed", "policy_refused"), ("failed", "timeout")]


async def test_observing_gives_out_no_refs_and_sends_nothing_but_a_screenshot(
    webview_device: str, shop: LocalServer, tmp_path: Path
) -> None:
    async def refs_and_cost(trace: Path | None) -> tuple[list[str], int]:
        async with Session.open(webview_device, grants=[shop.grant], trace=trace) as session:
            page = await session.new_page(shop.url("shop.html"))
            first = await page.snapshot()
            done = await page.click(first.find(role="button").ref)
            return list((await page.snapshot()).refs), done.cost.round_trips

    assert await refs_and_cost(tmp_path / "trace.html") == await refs_and_cost(None)


async def test_a_password_is_not_in_the_file(
    webview_device: str, tmp_path: Path, recorded: Callable[[], dict[str, Any]]
) -> None:
    (tmp_path / "login.html").write_text("<label>Password <input type=password></label>")
    with serving(tmp_path) as server:
        async with Session.open(webview_device, grants=[server.grant], trace=tmp_path / "trace.html") as session:
            page = await session.new_page(server.url("login.html"))
            await page.get_by_label("Password").fill("correct horse")
            await page.get_by_label("Password").press_sequentially(" battery")

    text = (tmp_path / "trace.html").read_text()
    assert "correct horse" not in text
    assert "battery" not in text
    assert 'os.environ["SECRET_1"]' in replayed(recorded(), is_async=False, with_grants=False).source


async def test_a_session_that_ends_with_an_error_leaves_its_trace(
    traced: Callable[[], Any], recorded: Callable[[], dict[str, Any]], shop: LocalServer
) -> None:
    async def fail() -> None:
        async with traced() as session:
            await session.new_page(shop.url("shop.html"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert len(operations(recorded())) == 1


async def test_a_trace_that_cannot_be_written_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        async with Session.open("virtual", trace=tmp_path / "nowhere" / "trace.html"):
            pass


def hostile(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace as a page would have it that writes into everything it can."""
    first = trace["operations"][0]
    first |= {"code": HOSTILE, "url": HOSTILE, "delta": HOSTILE, "element": {"role": HOSTILE, "name": HOSTILE}}
    trace["console"] = [{"number": 1, "level": HOSTILE, "text": HOSTILE, "location": HOSTILE}]
    first["console"] = [1, 1]
    return trace


async def test_the_file_opens_without_a_server_and_page_text_stays_text(
    traced: Callable[[], Any], recorded: Callable[[], dict[str, Any]], shop: LocalServer, tmp_path: Path
) -> None:
    async with traced() as session:
        await order(await session.new_page(), shop.url("shop.html"))
    write_trace(tmp_path / "hostile.html", hostile(recorded()))

    def dom(name: str) -> str:
        program = [find_chromium(os.environ), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        program += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000"]
        done = subprocess.run(
            [*map(str, program), (tmp_path / name).as_uri()], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    shown = dom("trace.html")
    assert shown.count('<li class="') == 5
    assert "data:image/webp;base64," in shown
    attacked = dom("hostile.html")
    assert "<title>Trace of 127.0.0.1:" in attacked
    assert '<img src="x"' not in attacked
    assert "&lt;/script&gt;&lt;img src=x onerror" in attacked


@pytest.fixture
def viewer(webview_device: str, tmp_path: Path) -> Callable[[dict[str, Any]], AbstractAsyncContextManager[Page]]:
    @asynccontextmanager
    async def showing(trace: dict[str, Any]) -> AsyncIterator[Page]:
        write_trace(tmp_path / "shown.html", trace)
        with serving(tmp_path) as server:
            async with Session.open(webview_device, grants=[server.grant], width_px=900) as session:
                yield await session.new_page(server.url("shown.html"))

    return showing


async def test_a_reader_finds_the_failure_its_screenshots_and_its_messages(
    traced: Callable[[], Any],
    recorded: Callable[[], dict[str, Any]],
    shop: LocalServer,
    viewer: Callable[[dict[str, Any]], AbstractAsyncContextManager[Page]],
) -> None:
    async with traced() as session:
        page = await session.new_page()
        await order(page, shop.url("shop.html"))
        with pytest.raises(AssertionError):
            await expect(page.get_by_role("status")).to_have_text("Paid", timeout_s=0.1)

    async with viewer(recorded()) as page:
        detail = page.get_by_role("article")
        await expect(detail).to_contain_text("expectation_failed")
        await expect(page.get_by_role("img")).to_have_count(2)
        await page.get_by_role("button", name="re.IGNORECASE").click()
        await expect(detail).to_contain_text("no stock was checked")
        await expect(detail).to_contain_text('+ - status "Thank you, Ann"')
        await page.get_by_label("Find operations").fill("fill(")
        await expect(page.locator("#operations li").filter(visible=True)).to_have_count(1)
        assert not page.console(level="error").entries


async def test_five_hundred_operations_stay_small_and_scroll_smoothly(
    traced: Callable[[], Any],
    recorded: Callable[[], dict[str, Any]],
    shop: LocalServer,
    viewer: Callable[[dict[str, Any]], AbstractAsyncContextManager[Page]],
) -> None:
    async with traced() as session:
        await order(await session.new_page(), shop.url("shop.html"))
    trace = recorded()
    # As many bytes as screenshots and snapshots may have; only the one that is looked at has to be a screenshot.
    screenshots = TraceImages()
    numbers = [screenshots.add(os.urandom(MAX_TOTAL_BYTES // 500)) for _ in range(500)]
    assert None not in numbers
    trace["screenshots"] = screenshots.to_json()
    trace["snapshots"] = [f"{number} {'x' * 6000}" for number in range(500)]
    clicked = trace["operations"][3]
    trace["operations"] = [
        {**clicked, "number": at + 1, "screenshot": number, "before": at, "after": at, "at_ms": at * 10.0}
        for at, number in enumerate(numbers)
    ]
    assert len(to_html(trace)) < 20_000_000

    # A script's value may be a promise, which is awaited.
    scrolled = """new Promise(done => { const list = document.getElementById("operations"), times = [];
        const step = now => { times.push(now); list.scrollTop += 200;
            if (times.length < 60) requestAnimationFrame(step);
            else done(JSON.stringify([list.scrollTop, times.slice(1).map((t, i) => t - times[i])])); };
        requestAnimationFrame(step); })"""
    async with viewer(trace) as page:
        await expect(page.locator("#operations li")).to_have_count(500)
        attachment = await page.attached()
        measured = await attachment.evaluate(attachment.state.main_frame_id or "", scrolled, timeout_s=30)
    reached_px, frames_ms = json.loads(measured)
    assert reached_px > 5_000
    assert sorted(frames_ms)[len(frames_ms) // 2] < 50  # a frame is 16.7 ms; other tests share the machine


def noise(seed: int) -> bytes:
    import io

    image = Image.effect_noise((412, 915), 60 + seed / 100).convert("RGB")
    out = io.BytesIO()
    image.save(out, "WEBP", quality=45)
    return out.getvalue()


def test_screenshots_are_bounded_each_and_all_together() -> None:
    screenshots = TraceImages(max_total_bytes=3 * MAX_SCREENSHOT_BYTES)
    noisy = [noise(seed) for seed in range(5)]
    numbers = [screenshots.add(screenshot) for screenshot in noisy]

    assert all(len(screenshot) > MAX_SCREENSHOT_BYTES for screenshot in noisy)
    assert screenshots.dropped == numbers.count(None) > 0
    assert screenshots.add(noisy[0]) == 0
    kept = screenshots.to_json()
    assert all(len(screenshot) <= MAX_SCREENSHOT_BYTES * 4 / 3 + 4 for screenshot in kept)
    assert MAX_TOTAL_BYTES * 4 / 3 < 13_000_000


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"format": "webview-bridge trace", "version": 99}', "\x00", "<html>"]
)
def test_a_file_without_a_trace_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)

    with pytest.raises(UsageError, match="trace"):
        read_trace(tmp_path / "file")
