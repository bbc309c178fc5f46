"""A window that leaves its first, empty document for one of its origin stays the same window, script worlds included.

(HTML, "create and initialize a Document object": the initial about:blank's Window is used again.)
"""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import NotVisible, RefNotFound
from bridge.page.page import Page
from tests.conftest import LocalServer
from tests.page.main_world import awaited_frame

pytestmark = pytest.mark.browser

# Whoever touches the frame's window before its page is there makes it have script worlds from the beginning.
TOUCHED = """(() => {
  const frame = document.createElement('iframe');
  frame.src = 'inner.html';
  document.body.append(frame);
  frame.contentWindow.mark = 1;
  frame.contentDocument.body.append(Object.assign(document.createElement('button'), { textContent: 'First' }));
})()"""


async def test_frame_touched_before_its_document_is_found_with_its_document(
    page: Page, local_server: LocalServer
) -> None:
    async with awaited_frame(page, local_server, TOUCHED) as release:
        first = (await page.snapshot()).find(name="First").ref
        arriving = asyncio.ensure_future(page.wait_for(role="button", name="Inner button", timeout_s=20))
        release()
        await arriving
    shot = await page.snapshot()
    assert 'button "First"' not in shot.text
    inner = shot.find(name="Inner button").ref
    assert inner != first
    # It is still connected, to a document that nobody sees.
    with pytest.raises((RefNotFound, NotVisible)):
        await page.click(first)
    await page.click(inner)
    assert "Inner clicked true" in (await page.snapshot()).text
