"""Numbers in the console log read as the page logged them."""

from __future__ import annotations

import pytest

from bridge.page.page import Page

pytestmark = pytest.mark.browser

LOGGED = "3.14159265, 1234567.89, 0.1 + 0.2, 1e21, 1e-7, 12345678901234, -0, NaN, true, null, undefined, 10n"
SHOWN = "3.14159265 1234567.89 0.30000000000000004 1e+21 1e-7 12345678901234 -0 NaN true null undefined 10n"


async def test_numbers_are_logged_as_javascript_writes_them(page: Page) -> None:
    attachment = await page.attached()
    await attachment.call("Runtime.evaluate", {"expression": f"console.log({LOGGED})"}, timeout_s=20)
    assert page.console().entries[-1].text == SHOWN
