"""Putting a saved state back into a page that somebody is using."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bridge import Session
from bridge.errors import NavigationFailed
from bridge.page.interception.fetch_messages import Abort
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_routes_of_the_page_hold_again_when_its_state_was_put_back(
    session: Session, local_server: LocalServer, tmp_path: Path
) -> None:
    origin = local_server.url("").rstrip("/")
    stored = {"origin": origin, "local": [["k", "v"]], "session": []}
    target = tmp_path / "state.json"
    target.write_text(json.dumps({"version": 1, "cookies": [], "origins": [stored]}))
    page = await session.new_tab()
    await page.route("**", Abort("BlockedByClient"))
    assert (await session.state_load(target, page=page)).items == 1
    with pytest.raises(NavigationFailed, match="ERR_BLOCKED_BY_CLIENT"):
        await page.goto(local_server.url("second.html"))
    assert await page.unroute("**") == 1
