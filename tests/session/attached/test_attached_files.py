"""Files of foreign apps: uploads are made in the page, downloads are read from the browser."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bridge import Session
from bridge.errors import ActionFailed, DeadlineExceeded, PolicyRefused, UsageError
from bridge.page.fetch_messages import Fulfil
from bridge.page.page import Page
from bridge.policy.grant import TestServerGrant
from tests.conftest import LocalServer
from tests.temp_devices import own_device

pytestmark = pytest.mark.browser

FORM = """<!doctype html><meta name=viewport content="width=device-width"><title>Files</title>
<label>One <input type=file id=one></label> <label>Many <input type=file id=many multiple></label>
<div id=zone role=button tabindex=0 style="width:200px;height:60px">Drop here</div> <button>Nothing</button>
<a href=/report.csv>Report</a> <a href=/page>Page</a><pre id=seen></pre>
<script>
  const tell = async (files, e) => {
    const all = await Promise.all([...files].map(async (f) => [f.name, f.size, [...(await f.text())].length]));
    seen.textContent = JSON.stringify([e.type, all]);
  };
  for (const it of [one, many]) it.onchange = (e) => tell(e.target.files, e);
  zone.ondragover = (e) => e.preventDefault();
  zone.ondrop = (e) => { e.preventDefault(); tell(e.dataTransfer.files, e); };
</script>"""
LARGE = bytes(range(128)) * 9_000


@pytest.fixture
async def form(adb_port: int, local_server: LocalServer, tmp_path: Path) -> AsyncIterator[Page]:
    (tmp_path / "up").mkdir()
    (tmp_path / "down").mkdir()
    (tmp_path / "up" / "a.txt").write_text("alpha")
    (tmp_path / "up" / "large.bin").write_bytes(LARGE)
    async with (
        own_device() as device,
        Session.attach(
            "com.android.chrome",
            activity="com.google.android.apps.chrome.Main",
            data=local_server.url("isolated/top.html"),
            url="**/isolated/top.html*",
            device=device.serial,
            grants=[local_server.grant, TestServerGrant("localhost", local_server.port)],
            uploads_root=tmp_path / "up",
            downloads_root=tmp_path / "down",
        ) as session,
    ):
        (page,) = session.pages
        yield page


async def ref_of(page: Page, name: str) -> str:
    shot = await page.snapshot()
    return next(ref for ref, node in shot.refs.items() if node.name.startswith(name))


async def seen(page: Page) -> Any:
    await page.wait_for(function="seen.textContent", timeout_s=20)
    attachment = await page.attached()
    taken = {"expression": "seen.textContent", "returnByValue": True}
    found = (await attachment.call("Runtime.evaluate", taken, timeout_s=20))["result"]["value"]
    await attachment.call("Runtime.evaluate", {"expression": "seen.textContent=''"}, timeout_s=20)
    return json.loads(found)


async def test_a_page_of_a_foreign_app_takes_uploads(form: Page, local_server: LocalServer) -> None:
    await form.route("**/form", Fulfil(headers={"content-type": "text/html"}, body=FORM))
    await form.goto(local_server.url("form"))
    given = await form.set_input_files(await ref_of(form, "One"), "a.txt")
    assert given.values == ("a.txt",)
    assert "isTrusted" in given.notices[0]
    assert await seen(form) == ["change", [["a.txt", 5, 5]]]
    await form.set_input_files(await ref_of(form, "Many"), ["large.bin", "a.txt"])
    assert await seen(form) == ["change", [["large.bin", len(LARGE), len(LARGE)], ["a.txt", 5, 5]]]
    await form.set_input_files(await ref_of(form, "Drop here"), ["a.txt"])
    assert await seen(form) == ["drop", [["a.txt", 5, 5]]]
    with pytest.raises(UsageError, match="accepts one file"):
        await form.set_input_files(await ref_of(form, "One"), ["a.txt", "large.bin"])
    with pytest.raises(ActionFailed, match="accepts no dropped files"):
        await form.set_input_files(await ref_of(form, "Nothing"), ["a.txt"])
    with pytest.raises(PolicyRefused):
        await form.set_input_files(await ref_of(form, "One"), "../down/x")


async def test_a_download_of_a_tap_is_read_from_the_browser(
    form: Page, local_server: LocalServer, tmp_path: Path
) -> None:
    await form.route("**/form", Fulfil(headers={"content-type": "text/html"}, body=FORM))
    await form.route("**/page", Fulfil(headers={"content-type": "text/html"}, body="<title>Page</title>"))
    await form.goto(local_server.url("form"))
    tapped = await form.download("report.csv", ref=await ref_of(form, "Report"), timeout_s=10)
    assert tapped.mime == "text/csv"
    assert (tmp_path / "down" / "report.csv").read_text() == "a;b\n1;2\n"
    with pytest.raises(DeadlineExceeded, match="no download was intercepted"):
        await form.download("none", ref=await ref_of(form, "Page"), timeout_s=2)
    await form.goto(local_server.url("form"))
    by_url = await form.download("second.html", url=local_server.url("second.html"), timeout_s=10)
    assert by_url.status == 200
    assert "Second" in (tmp_path / "down" / "second.html").read_text()
