"""The app answers dialogs too: its answer may be the first, and results report the answer that the page got."""

from __future__ import annotations

import re

import pytest

from bridge import Session
from tests.temp_devices import own_device
from tests.temp_sites import own_site

pytestmark = pytest.mark.browser

PAGE = """<button onclick="said.textContent+=confirm('Sure?')+' '">Ask</button><p role=status id=said></p>"""


@pytest.mark.parametrize("answer", ["accept", "dismiss", "default"])
async def test_a_result_reports_the_answer_that_the_page_got(webview_device: str, answer: str) -> None:
    async with own_device() as device:
        await device.fault("answer_dialogs_at_once")
        with own_site({"/": PAGE}) as site:
            async with Session.open(device.serial, grants=[site.grant]) as session:
                page = await session.new_page(site.url())
                page.answer_dialogs(answer)
                ask = (await page.snapshot()).find(name="Ask").ref
                reports = [line for _ in range(3) for line in (await page.click(ask)).changes.dialogs]
                answers = re.findall(r"true|false", (await page.snapshot()).text.partition("\n")[2])
                assert ["accepted" in line for line in reports] == [word == "true" for word in answers]
                assert len(answers) == 3


async def test_the_app_leaves_a_dialog_to_the_session(webview_device: str) -> None:
    with own_site({"/": PAGE}) as site:
        async with Session.open(webview_device, grants=[site.grant]) as session:
            page = await session.new_page(site.url())
            page.answer_dialogs("accept")
            result = await page.click((await page.snapshot()).find(name="Ask").ref)
            assert result.changes.dialogs == ('confirm "Sure?" (accepted)',)
            assert '"true"' in (await page.snapshot()).text
