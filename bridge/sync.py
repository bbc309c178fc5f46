"""The same API without `await`, for scripts, notebooks and tests that are not asynchronous.

from bridge.sync import Session

with Session.open() as session:
    page = session.new_tab("https://example.com/")
    print(page.snapshot().text)

Types are in sync.pyi, which `tools/sync_stubs.py` makes out of the asynchronous classes.
"""

from __future__ import annotations

from bridge.page.expectations import LocatorExpectations as _LocatorExpectations
from bridge.page.expectations import PageExpectations as _PageExpectations
from bridge.page.expectations import expect as _expect
from bridge.page.locators import Locator as _Locator
from bridge.page.page import Page as _Page
from bridge.page.popups import ExpectedPopup as _ExpectedPopup
from bridge.session.attached import AttachedSession as _AttachedSession
from bridge.surfaces.blocking import blocking, method
from bridge.surfaces.compose import Session as _Session
from bridge.surfaces.device_pool.pool import DevicePool as _DevicePool

Session = blocking(_Session)
Page = blocking(_Page)
AttachedSession = blocking(_AttachedSession)
DevicePool = blocking(_DevicePool)
Locator = blocking(_Locator)
ExpectedPopup = blocking(_ExpectedPopup)
LocatorExpectations = blocking(_LocatorExpectations)
PageExpectations = blocking(_PageExpectations)
expect = method(_expect)

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
