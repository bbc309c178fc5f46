"""A plain Chromium with nothing but the injected script, shared by the tests of one run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import ACCNAME, Page, chromium, open_page, serve


@pytest.fixture(scope="session")
def chromium_address() -> Iterator[str]:
    with chromium() as address:
        yield address


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    with serve(ACCNAME) as origin:
        yield origin


@pytest.fixture
def tab(chromium_address: str, origin: str) -> Iterator[Page]:
    """A fresh tab; `tab.show(html)` loads a document."""
    with open_page(chromium_address, origin) as page:
        yield page
