"""The same API without `await`, for scripts, notebooks and tests that are not asynchronous.

from bridge.sync import Session

with Session.open() as session:
    page = session.new_tab("https://example.com/")
    print(page.snapshot().text)

The types are in sync.pyi, which `tools/sync_stubs.py` generates from the asynchronous classes.
"""

from __future__ import annotations

from typing import Any as _Any

from bridge.errors import UsageError as _UsageError
from bridge.page.locators.expectations import LocatorExpectations as _LocatorExpectations
from bridge.page.locators.expectations import PageExpectations as _PageExpectations
from bridge.page.locators.expectations import expect as _expect
from bridge.page.locators.locators import Locator as _Locator
from bridge.page.page import Page as _Page
from bridge.page.popups import ExpectedPopup as _ExpectedPopup
from bridge.session.attached.session import AttachedSession as _AttachedSession
from bridge.surfaces.blocking import blocking_class, method
from bridge.surfaces.composition import Session as _Session
from bridge.surfaces.device_pool.pool import DevicePool as _DevicePool

Session = blocking_class(_Session)
Page = blocking_class(_Page)
AttachedSession = blocking_class(_AttachedSession)
DevicePool = blocking_class(_DevicePool)
Locator = blocking_class(_Locator)
ExpectedPopup = blocking_class(_ExpectedPopup)
LocatorExpectations = blocking_class(_LocatorExpectations)
PageExpectations = blocking_class(_PageExpectations)
_blocking_expect = method(_expect)


def expect(subject: _Any) -> _Any:
    """Expectations of a locator or a page. Their methods wait until they hold."""
    if isinstance(subject, _Locator | _Page):
        raise _UsageError(
            f"expect of bridge.sync got a {type(subject).__name__} of the asynchronous API",
            hint="For the asynchronous API, import expect from bridge and await its methods.",
        )
    return _blocking_expect(subject)


__all__ = [
    "AttachedSession",
    "DevicePool",
    "ExpectedPopup",
    "Locator",
    "LocatorExpectations",
    "Page",
    "PageExpectations",
    "Session",
    "expect",
]
