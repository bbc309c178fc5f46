"""How far the host app's own drawing of a page goes, and what comes after it."""

from __future__ import annotations

import pytest

from bridge import Session
from bridge.errors import CaptureFailed

pytestmark = pytest.mark.browser

# 5,003 CSS px are 13,133 device px at 420 dpi, and a host app draws 10,000.
TALL = (
    "<!doctype html><meta name=viewport content='width=device-width'><body style='margin:0'><p style='height:5003px'>"
)


async def test_what_the_host_cannot_draw_whole_is_not_drawn_by_it_but_stitched(webview_device: str) -> None:
    async with Session.open(webview_device, width_px=1080, height_px=2400, density_dpi=420) as session:
        page = await session.new_page()
        attachment = await page.attached()
        assert attachment.state.main is not None
        shown = {"frameId": attachment.state.main.frame_id, "html": TALL}
        await attachment.call("Page.setDocumentContent", shown, timeout_s=20)
        with pytest.raises(CaptureFailed, match="at most 10000 device px of height, not 13"):
            await page.screenshot(full_page=True, strategy="host-native")
        taken = await page.screenshot(full_page=True, timeout_s=30)
        assert taken.strategy != "host-native"
        assert abs(taken.height_px - 5003) < 40
        assert not taken.truncated
        near = await page.screenshot(full_page=True, scale="device", strategy="host-native", timeout_s=30)
        assert (near.height_px, near.truncated) == (10_000, True)
