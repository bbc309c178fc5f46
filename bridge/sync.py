"""The same API without `await`, for scripts, notebooks and tests that are not asynchronous.

from bridge.sync import Session

with Session.open() as session:
    page = session.new_tab("https://example.com/")
    print(page.snapshot().text)

Types are in sync.pyi, which `tools/sync_stubs.py` makes out of the asynchronous classes.
"""

from __future__ import annotations

from bridge.page.locators import Locator as _Locator
from bridge.page.page import Page as _Page
from bridge.page.popups import ExpectedPopup as _ExpectedPopup
from bridge.session.attached import AttachedSession as _AttachedSession
from bridge.surfaces.blocking import blocking
from bridge.surfaces.compose import Session as _Session

Session = blocking(_Session)
Page = blocking(_Page)
AttachedSession = blocking(_AttachedSession)
Locator = blocking(_Locator)
ExpectedPopup = blocking(_ExpectedPopup)

__all__ = ["AttachedSession", "ExpectedPopup", "Locator", "Page", "Session"]
