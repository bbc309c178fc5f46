"""There are two `expect`, one for each way to write a test; the wrong one says which is the right one."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from bridge import sync
from bridge.errors import UsageError


@pytest.mark.browser
async def test_wrong_expect_names_the_right_one(webview_device: str) -> None:
    async with bridge.Session.open(webview_device) as session:
        page = await session.new_page()
        locator = page.get_by_role("button")
        mistaken: tuple[tuple[Any, Any], ...] = ((page, sync.Page), (locator, sync.Locator))
        for subject, blocking in mistaken:
            with pytest.raises(UsageError, match="import expect from bridge"):
                sync.expect(subject)
            with pytest.raises(UsageError, match=r"not bridge\.sync\..* need expect from bridge\.sync"):
                bridge.expect(blocking(subject))
