"""A plain Chromium with the injected script, to compare with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "snapshot"))

from browser import ACCNAME, Page, chromium, open_page, serve


@pytest.fixture(scope="module")
def live() -> Iterator[Page]:
    with chromium() as address, serve(ACCNAME) as origin, open_page(address, origin) as page:
        yield page
