"""Cookies and storage saved to a file, and restored from it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import NavigationFailed, UsageError
from bridge.page.fetch_messages import Abort
from tests.conftest import LocalServer
from tests.session.storage.storing_site import grant_for, run

pytestmark = pytest.mark.browser


async def test_saved_state_is_restored_and_only_its_owner_can_read_it(
    webview_device: str, base: str, tmp_path: Path
) -> None:
    target = tmp_path / "state.json"
    async with Session.open(webview_device, grants=[grant_for(base)]) as session:
        page = await session.new_page(f"{base}/trace")
        await run(page, "document.cookie = 'trail=; max-age=0', localStorage.clear()")
        await run(page, "localStorage.setItem('käse', '🧀'), sessionStorage.setItem('s', '1')")
        saved = await session.storage_state(target)
    assert (saved.cookies, saved.origins, saved.items) == (1, 1, 2)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["state.json"]  # noqa: PTH208 -- no pathlib in async functions (ASYNC240)
    other = TestServerGrant("localhost", grant_for(base).port)
    async with Session.open(webview_device, grants=[grant_for(base), other]) as session:
        page = await session.new_page()
        loaded = await session.set_storage_state(target, page=page)
        assert (loaded.cookies, loaded.origins, loaded.items, loaded.notices) == (1, 1, 2, ())
        await page.goto(f"{base}/trace")
        assert await run(page, "localStorage.getItem('käse') + sessionStorage.getItem('s')") == "🧀1"
        assert page.network(url="/trace").entries[-1].response_headers["x-cookie-seen"] == "login=secret"
        without = await session.set_storage_state(target)
        assert without.notices[0].startswith("session storage of")


async def test_a_file_that_is_not_a_saved_state_is_a_usage_error(session: Session, tmp_path: Path) -> None:
    target = tmp_path / "state.json"
    good: dict[str, Any] = {"version": 1, "cookies": [], "origins": []}
    for wrong in (
        "",
        "[]",
        json.dumps({**good, "version": 2}),
        json.dumps({**good, "cookies": [{"name": 1, "domain": "h"}]}),
        json.dumps({**good, "cookies": [{"name": "n", "value": "v"}]}),
        json.dumps({**good, "origins": [{"origin": "file:///etc", "local": [], "session": []}]}),
        json.dumps({**good, "origins": [{"origin": "http://h/path", "local": [], "session": []}]}),
        json.dumps({**good, "origins": [{"origin": "http://h", "local": [["a"]], "session": []}]}),
        "[" * 100_000,
    ):
        target.write_text(wrong)
        with pytest.raises(UsageError):
            await session.set_storage_state(target)
    with pytest.raises(UsageError):
        await session.set_storage_state(tmp_path / "none.json")
    with pytest.raises(UsageError, match="no tab is open"):
        await session.storage_state(target)


async def test_routes_of_a_page_apply_again_after_its_state_was_restored(
    session: Session, local_server: LocalServer, tmp_path: Path
) -> None:
    origin = local_server.url("").rstrip("/")
    stored = {"origin": origin, "local": [["k", "v"]], "session": []}
    target = tmp_path / "state.json"
    target.write_text(json.dumps({"version": 1, "cookies": [], "origins": [stored]}))
    page = await session.new_page()
    await page.route("**", Abort("BlockedByClient"))
    assert (await session.set_storage_state(target, page=page)).items == 1
    with pytest.raises(NavigationFailed, match="ERR_BLOCKED_BY_CLIENT"):
        await page.goto(local_server.url("second.html"))
    assert await page.unroute("**") == 1
