"""Drive a real Android WebView from Python, over ADB.

from bridge import Session

async with Session.open() as session:
    page = await session.new_page("https://example.com/")
    print((await page.snapshot()).text)
"""

from __future__ import annotations

from bridge.lazy_names import lazy_names

TYPE_CHECKING = False  # typing's own costs its import, which a warm command has no time for
if TYPE_CHECKING:
    from bridge.page.fetch_messages import Abort, Fulfil, Proceed
    from bridge.page.locators.assertions import expect
    from bridge.page.locators.locators import Locator
    from bridge.page.page import Page
    from bridge.policy.browser_policy import BrowserPolicy
    from bridge.policy.grant import AppGrant, TestServerGrant
    from bridge.surfaces.composition import Session
    from bridge.surfaces.device_pool.jobs import JobOutcome
    from bridge.surfaces.device_pool.on_ray import run_on_ray
    from bridge.surfaces.device_pool.pool import DevicePool

__version__ = "0.1.0"

__all__ = [
    "Abort",
    "AppGrant",
    "BrowserPolicy",
    "DevicePool",
    "Fulfil",
    "JobOutcome",
    "Locator",
    "Page",
    "Proceed",
    "Session",
    "TestServerGrant",
    "__version__",
    "expect",
    "run_on_ray",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Abort": "bridge.page.fetch_messages",
        "AppGrant": "bridge.policy.grant",
        "BrowserPolicy": "bridge.policy.browser_policy",
        "DevicePool": "bridge.surfaces.device_pool.pool",
        "Fulfil": "bridge.page.fetch_messages",
        "JobOutcome": "bridge.surfaces.device_pool.jobs",
        "Proceed": "bridge.page.fetch_messages",
        "Locator": "bridge.page.locators.locators",
        "Page": "bridge.page.page",
        "Session": "bridge.surfaces.composition",
        "TestServerGrant": "bridge.policy.grant",
        "expect": "bridge.page.locators.assertions",
        "run_on_ray": "bridge.surfaces.device_pool.on_ray",
    },
)
