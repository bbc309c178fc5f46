"""Drive a real Android WebView from Python, over ADB.

from bridge import Session

async with Session.open() as session:
    page = await session.new_tab("https://example.com/")
    print((await page.snapshot()).text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bridge.page.expectations import expect
    from bridge.page.fetching import Abort, Fulfil, Proceed
    from bridge.page.locators import Locator
    from bridge.page.page import Page
    from bridge.policy.grant import AppGrant, TestServerGrant
    from bridge.policy.rules import BrowserPolicy
    from bridge.surfaces.compose import Session

__version__ = "0.1.0"

__all__ = [
    "Abort",
    "AppGrant",
    "BrowserPolicy",
    "Fulfil",
    "Locator",
    "Page",
    "Proceed",
    "Session",
    "TestServerGrant",
    "__version__",
    "expect",
]

# Importing the package costs nothing; a name brings its layers in when it is used.
_HOMES = {
    "Abort": "bridge.page.fetching",
    "AppGrant": "bridge.policy.grant",
    "BrowserPolicy": "bridge.policy.rules",
    "Fulfil": "bridge.page.fetching",
    "Proceed": "bridge.page.fetching",
    "Locator": "bridge.page.locators",
    "Page": "bridge.page.page",
    "Session": "bridge.surfaces.compose",
    "TestServerGrant": "bridge.policy.grant",
    "expect": "bridge.page.expectations",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}")
    return getattr(import_module(home), name)
