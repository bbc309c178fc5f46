"""Uploads and downloads, through a real page, a real server and the device's host app."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge import Session
from bridge.errors import (
    ActionFailed,
    DeadlineExceeded,
    NavigationFailed,
    PolicyRefused,
    RefNotFound,
    StaleRef,
    UsageError,
)
from bridge.page.files.download_body import suggested_name
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser

FORM = b"""<!doctype html><title>Files</title><meta name=viewport content="width=device-width">
<label>One <input type=file id=one></label><label for=many>Many</label><input type=file id=many multiple>
<input type=file id=off disabled aria-label=Off>
<div id=zone role=button tabindex=0 style="width:200px;height:80px;background:#ccc">Drop here</div>
<a href="/report" download>Report</a> <a href="#" id=made>Made here</a> <button>Nothing</button>
<pre id=seen></pre>
<script>
  const tell = async (files) => {
    const all = await Promise.all([...files].map(async (f) => [f.name, f.size, await f.text()]));
    seen.textContent = JSON.stringify(all);
  };
  for (const id of ['one', 'many']) document.getElementById(id).onchange = (e) => tell(e.target.files);
  zone.ondragover = (e) => e.preventDefault();
  zone.ondrop = (e) => { e.preventDefault(); tell(e.dataTransfer.files); };
  made.href = URL.createObjectURL(new Blob(['made by the page'], {type: 'text/csv'}));
  made.download = 'made.csv';
</script>"""


class _Files(QuietHandler):
    broken_off = threading.Event()
    LARGE = bytes(range(256)) * 8_000

    def do_GET(self) -> None:
        if self.path == "/":
            self.respond(FORM, Set_Cookie="login=yes; HttpOnly; SameSite=Lax")
        elif self.path == "/report":
            if "login=yes" not in self.headers.get("Cookie", ""):
                self.send_error(403)
                return
            disposition = "attachment; filename=\"../../etc/re port.csv\"; filename*=UTF-8''re%20p%C3%B6rt.csv"
            self.respond(b"a;b\n1;2\n", "text/csv", Content_Disposition=disposition)
        elif self.path == "/large":
            self.respond(self.LARGE, "application/octet-stream")
        elif self.path == "/broken":
            self.begin("text/csv", 100_000)
            self.wfile.write(b"x" * 5_000)
            self.wfile.flush()
            self.connection.close()
        elif self.path == "/endless":
            self.begin("text/csv", None)
            try:
                while True:
                    self.wfile.write(b"x" * 65_536)
            except OSError:
                self.broken_off.set()
        elif self.path == "/redirected":
            self.respond(b"", status=302, Location="/report")
        else:
            self.send_error(404)


@pytest.fixture(scope="module")
def site() -> Iterator[LocalServer]:
    with listening(_Files) as server:
        yield server


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    uploads, downloads = tmp_path / "up", tmp_path / "down"
    uploads.mkdir()
    downloads.mkdir()
    (uploads / "a.txt").write_text("alpha")
    (uploads / "b.txt").write_text("beta")
    (tmp_path / "secret").write_text("secret")
    return uploads, downloads


@pytest.fixture
async def form(webview_device: str, site: LocalServer, roots: tuple[Path, Path]) -> AsyncIterator[tuple[Page, Session]]:
    folders = {"uploads_root": roots[0], "downloads_root": roots[1]}
    async with Session.open(webview_device, grants=[site.grant], **folders) as session:
        yield await session.new_page(site.url()), session


async def ref_of(page: Page, name: str) -> str:
    shot = await page.snapshot()
    return next(ref for ref, node in shot.refs.items() if node.name.startswith(name))


async def seen(page: Page) -> Any:
    attachment = await page.attached()
    call = {"expression": "new Promise((done) => setTimeout(() => done(seen.textContent), 50))", "awaitPromise": True}
    return json.loads((await attachment.call("Runtime.evaluate", call, timeout_s=20))["result"]["value"])


async def test_a_file_input_gets_the_file_and_its_events(form: tuple[Page, Session]) -> None:
    page, _ = form
    given = await page.set_input_files(await ref_of(page, "One"), "a.txt")
    assert (given.action, given.values) == ("upload", ("a.txt",))
    assert "a.txt" in given.changes.text
    assert await seen(page) == [["a.txt", 5, "alpha"]]


async def test_several_files_keep_their_order(form: tuple[Page, Session], roots: tuple[Path, Path]) -> None:
    page, _ = form
    await page.set_input_files(await ref_of(page, "Many"), ["b.txt", roots[0] / "a.txt"])
    assert await seen(page) == [["b.txt", 4, "beta"], ["a.txt", 5, "alpha"]]
    with pytest.raises(UsageError, match="accepts one file"):
        await page.set_input_files(await ref_of(page, "One"), ["a.txt", "b.txt"])


async def test_files_are_dropped_on_an_element_that_accepts_them(form: tuple[Page, Session]) -> None:
    page, _ = form
    given = await page.set_input_files(await ref_of(page, "Drop here"), ["a.txt", "b.txt"])
    assert given.values == ("a.txt", "b.txt")
    assert await seen(page) == [["a.txt", 5, "alpha"], ["b.txt", 4, "beta"]]
    with pytest.raises(ActionFailed, match="accepts no dropped files"):
        await page.set_input_files(await ref_of(page, "Nothing"), ["a.txt"])


async def test_files_on_the_device_are_deleted_with_the_tab(form: tuple[Page, Session]) -> None:
    page, session = form
    await page.set_input_files(await ref_of(page, "One"), "a.txt")
    assert (await session.host_client.stats(timeout_s=20))["files"] == 1
    await page.close()
    assert (await session.host_client.stats(timeout_s=20))["files"] == 0


async def test_upload_paths_outside_the_folder_are_refused_before_anything_is_sent(
    form: tuple[Page, Session], roots: tuple[Path, Path]
) -> None:
    page, session = form
    (roots[0] / "link").symlink_to(roots[0].parent / "secret")
    ref = await ref_of(page, "One")
    for path in ("../secret", "/etc/passwd", "link", roots[0] / ".." / "secret"):
        with pytest.raises(PolicyRefused):
            await page.set_input_files(ref, path)
    with pytest.raises(PolicyRefused):
        await page.set_input_files(ref, ["a.txt", "../secret"])
    with pytest.raises(UsageError):
        await page.set_input_files(ref, "missing.txt")
    with pytest.raises(UsageError):
        await page.set_input_files(ref, [])
    for no_path in (5, ["a.txt", None], b"a.txt"):
        with pytest.raises(UsageError, match="a path or a list of paths"):
            await page.set_input_files(ref, no_path)  # type: ignore[arg-type]
    assert (await session.host_client.stats(timeout_s=20))["files"] == 0


async def test_refs_of_removed_or_disabled_elements_are_errors(form: tuple[Page, Session]) -> None:
    page, session = form
    ref = await ref_of(page, "One")
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": "one.closest('label').remove()"}, timeout_s=20)
    with pytest.raises((RefNotFound, StaleRef)):
        await page.set_input_files(ref, "a.txt")
    shot = await page.snapshot(interactive_only=False)
    off = [ref for ref, node in shot.refs.items() if node.name.startswith("Off")]
    if off:
        with pytest.raises(ActionFailed, match="disabled"):
            await page.set_input_files(off[0], "a.txt")
    assert (await session.host_client.stats(timeout_s=20))["files"] == 0


async def test_without_folders_uploads_and_downloads_name_the_setting(webview_device: str, site: LocalServer) -> None:
    async with Session.open(webview_device, grants=[site.grant]) as session:
        page = await session.new_page(site.url())
        with pytest.raises(PolicyRefused, match="--uploads-root FOLDER"):
            await page.set_input_files(await ref_of(page, "One"), "a.txt")
        with pytest.raises(PolicyRefused, match="--downloads-root FOLDER"):
            await page.download("x", url=site.url("report"))


async def test_a_url_is_downloaded_with_the_pages_cookies(
    form: tuple[Page, Session], site: LocalServer, roots: tuple[Path, Path]
) -> None:
    page, _ = form
    got = await page.download("report.csv", url=site.url("report"))
    assert got.path == str(roots[1] / "report.csv")
    assert (roots[1] / "report.csv").read_bytes() == b"a;b\n1;2\n"
    assert (got.status, got.mime, got.size_bytes) == (200, "text/csv", 8)
    assert got.suggested_name == "re pört.csv"
    large = await page.download("large.bin", url=site.url("large"))
    assert large.size_bytes == len(_Files.LARGE)
    assert (roots[1] / "large.bin").read_bytes() == _Files.LARGE
    assert (await page.download("again.csv", url=site.url("redirected"))).size_bytes == 8


async def test_a_download_started_by_a_tap_is_saved(form: tuple[Page, Session], roots: tuple[Path, Path]) -> None:
    page, _ = form
    got = await page.download("tapped.csv", ref=await ref_of(page, "Report"))
    assert (roots[1] / "tapped.csv").read_bytes() == b"a;b\n1;2\n"
    assert got.url.endswith("/report")
    made = await page.download("made.csv", ref=await ref_of(page, "Made here"))
    assert (roots[1] / "made.csv").read_bytes() == b"made by the page"
    assert made.url.startswith("blob:")
    assert made.suggested_name == "made.csv"
    with pytest.raises(DeadlineExceeded, match="nothing was downloaded"):
        await page.download("none", ref=await ref_of(page, "Nothing"), timeout_s=1.5)


async def test_an_expected_download_is_kept_until_the_session_ends(
    webview_device: str, site: LocalServer, roots: tuple[Path, Path]
) -> None:
    async with Session.open(webview_device, grants=[site.grant], downloads_root=roots[1]) as session:
        await save_expected_downloads(await session.new_page(site.url()), roots)
    assert [path.name for path in roots[1].iterdir()] == ["saved.csv"]


async def save_expected_downloads(page: Page, roots: tuple[Path, Path]) -> None:
    async with page.expect_download() as info:
        await page.get_by_role("link", name="Report").click()
    download = await info.value
    assert download.suggested_filename == "re pört.csv"
    assert download.url.endswith("/report")
    assert download.page is page
    assert (await download.path()).read_bytes() == b"a;b\n1;2\n"
    (roots[1] / "saved.csv").write_text("of an earlier run")
    await download.save_as("saved.csv")
    assert (roots[1] / "saved.csv").read_bytes() == b"a;b\n1;2\n"
    with pytest.raises(PolicyRefused):
        await download.save_as("../saved.csv")

    async with page.expect_download() as info:
        await page.get_by_role("link", name="Made here").click()
    assert (await info.value).suggested_filename == "made.csv"
    with pytest.raises(DeadlineExceeded, match="nothing was downloaded"):
        async with page.expect_download(timeout_s=0.5):
            await page.get_by_role("button", name="Nothing").click()
    with pytest.raises(ZeroDivisionError):
        async with page.expect_download():
            raise ZeroDivisionError


async def test_failed_large_and_endless_downloads_leave_no_file(
    form: tuple[Page, Session], site: LocalServer, roots: tuple[Path, Path]
) -> None:
    page, _ = form
    for path in ("broken", "missing"):
        with pytest.raises(NavigationFailed):
            await page.download("x", url=site.url(path))
    with pytest.raises(UsageError, match=r"max_bytes \(1000\)"):
        await page.download("x", url=site.url("large"), max_bytes=1_000)
    with pytest.raises(UsageError, match=r"larger than max_bytes \(1000 bytes\)"):
        await page.download("x", url=site.url("endless"), max_bytes=1_000)
    assert await asyncio.to_thread(_Files.broken_off.wait, 10)
    _Files.broken_off.clear()
    with pytest.raises(DeadlineExceeded):
        await page.download("x", url=site.url("endless"), timeout_s=0.3)
    assert list(roots[1].iterdir()) == []
    assert await asyncio.to_thread(_Files.broken_off.wait, 10)
    assert (await page.snapshot()).title == "Files"


async def test_downloads_stay_in_the_folder_and_within_the_policy(
    form: tuple[Page, Session], site: LocalServer, roots: tuple[Path, Path]
) -> None:
    page, _ = form
    (roots[1] / "out").symlink_to(roots[1].parent)
    (roots[1] / "there").write_text("mine")
    for path in ("../stolen", "/elsewhere/stolen", "out/stolen"):
        with pytest.raises(PolicyRefused):
            await page.download(path, url=site.url("report"))
    with pytest.raises(UsageError, match="exists already"):
        await page.download("there", url=site.url("report"))
    assert (roots[1] / "there").read_text() == "mine"
    await page.download("there", url=site.url("report"), overwrite=True)
    assert (roots[1] / "there").read_text() == "a;b\n1;2\n"
    for url in ("http://127.0.0.1:1/x", "file:///etc/passwd", "ftp://h/x"):
        with pytest.raises(PolicyRefused):
            await page.download("x", url=url)
    assert not (roots[1].parent / "stolen").exists()


async def test_data_urls_are_decoded_locally(form: tuple[Page, Session], roots: tuple[Path, Path]) -> None:
    page, _ = form
    await page.download("d.txt", url="data:text/plain;base64,aGVsbG8=")
    assert (roots[1] / "d.txt").read_text() == "hello"
    with pytest.raises(UsageError):
        await page.download("x", url="data:nothing")


def test_suggested_names_are_never_paths() -> None:
    for disposition, name in (
        ('attachment; filename="a b.txt"', "a b.txt"),
        ("attachment; filename=plain.txt", "plain.txt"),
        ('attachment; filename="..\\\\..\\\\evil.exe"', "evil.exe"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename=".."', ""),
        ("attachment; filename*=UTF-8''%2e%2e%2fx", "x"),
        ("attachment; filename*=no-such-charset''%ff; filename=y", "y"),
        ("inline", ""),
    ):
        assert suggested_name(disposition) == name
