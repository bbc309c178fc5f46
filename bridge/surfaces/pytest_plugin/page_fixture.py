"""The fixture `page`. Registered unless pytest-playwright has one of that name."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def page(webview_page: Any) -> Any:
    """The same as `webview_page`."""
    return webview_page
