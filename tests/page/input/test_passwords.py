"""A password field says whether it holds something, and never what."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bridge.page.page import Page
from tests.temp_sites import own_page

pytestmark = pytest.mark.browser

SECRET = "correct horse"
LOGIN = "<!doctype html><title>Login</title><input type=password aria-label=PW><input aria-label=Name>"


@pytest.fixture
async def page(webview_device: str) -> AsyncIterator[Page]:
    async with own_page(webview_device, LOGIN) as page:
        yield page


async def test_results_of_filling_and_clearing_a_password_do_not_show_it(page: Page) -> None:
    ref = (await page.snapshot()).find(name="PW").ref
    for done, state in (
        (await page.fill(ref, SECRET), "filled"),
        (await page.clear(ref), "empty"),
        (await page.type(ref, SECRET), "filled"),
    ):
        assert done.notices == (f"the password field is now {state}; its value is not shown",)
        assert SECRET not in str(done.to_json())


async def test_other_fields_show_what_they_hold(page: Page) -> None:
    done = await page.fill((await page.snapshot()).find(name="Name").ref, "Ada")
    assert (done.value, done.notices) == ("Ada", ())
