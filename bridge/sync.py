"""The same API without `await`, for scripts, notebooks and tests that are not asynchronous.

from bridge.sync import Session

with Session.open() as session:
    page = session.new_page("https://example.com/")
    print(page.snapshot().text)

The types are in sync.pyi, which `tools/sync_stubs.py` generates from the asynchronous classes.
"""

from __future__ import annotations

from typing import Any as _Any

from bridge.errors import UsageError as _UsageError
from bridge.page.events.download_event import Download as _Download
from bridge.page.events.listeners import EventInfo as _EventInfo
from bridge.page.events.messages import Request as _Request
from bridge.page.events.messages import Response as _Response
from bridge.page.input.devices import Keyboard as _Keyboard
from bridge.page.input.devices import Mouse as _Mouse
from bridge.page.input.devices import Touchscreen as _Touchscreen
from bridge.page.locators.assertions import LocatorAssertions as _LocatorAssertions
from bridge.page.locators.assertions import PageAssertions as _PageAssertions
from bridge.page.locators.assertions import expect as _expect
from bridge.page.locators.locators import FrameLocator as _FrameLocator
from bridge.page.locators.locators import Locator as _Locator
from bridge.page.page import Page as _Page
from bridge.session import AttachedSession as _AttachedSession
from bridge.session.cdp_session import CdpSession as _CdpSession
from bridge.session.tracing import Tracing as _Tracing
from bridge.surfaces.blocking import blocking_class, method
from bridge.surfaces.composition import Session as _Session
from bridge.surfaces.device_pool.pool import DevicePool as _DevicePool

Session = blocking_class(_Session)
Page = blocking_class(_Page)
AttachedSession = blocking_class(_AttachedSession)
DevicePool = blocking_class(_DevicePool)
CdpSession = blocking_class(_CdpSession)
Locator = blocking_class(_Locator)
FrameLocator = blocking_class(_FrameLocator)
Keyboard = blocking_class(_Keyboard)
Mouse = blocking_class(_Mouse)
Tracing = blocking_class(_Tracing)
Touchscreen = blocking_class(_Touchscreen)
EventInfo = blocking_class(_EventInfo)
Download = blocking_class(_Download)
Request = blocking_class(_Request)
Response = blocking_class(_Response)
LocatorAssertions = blocking_class(_LocatorAssertions)
PageAssertions = blocking_class(_PageAssertions)
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
    "CdpSession",
    "DevicePool",
    "Download",
    "EventInfo",
    "FrameLocator",
    "Keyboard",
    "Locator",
    "LocatorAssertions",
    "Mouse",
    "Page",
    "PageAssertions",
    "Request",
    "Response",
    "Session",
    "Touchscreen",
    "Tracing",
    "expect",
]
