"""`Page.read` and words that are there for a reader of the source and for no person."""

from __future__ import annotations

import re

import pytest

from bridge.page.page import Page
from tests.conftest import LocalServer

pytestmark = pytest.mark.browser


async def test_words_without_a_trace_on_the_screen_are_left_out_and_all_others_stay(
    page: Page, local_server: LocalServer
) -> None:
    await page.goto(local_server.url("faint.html"))

    result = await page.read(mode="raw")

    assert re.findall(r"hidden-\w+", result.markdown) == []
    assert len(re.findall(r"seen-\w+", result.markdown)) == 11
    assert result.hidden_text_removed == 17
