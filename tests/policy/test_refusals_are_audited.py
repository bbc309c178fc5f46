"""Refusals before any connection are in the audit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bridge import Session
from bridge.errors import PolicyRefused
from bridge.page.page import Page
from bridge.policy import BrowserPolicy
from bridge.policy.pinning import PinnedEgress
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening

pytestmark = pytest.mark.browser


class _Site(QuietHandler):
    def do_GET(self) -> None:
        self.respond(b"<!doctype html><title>Page</title><img src='http://10.0.0.1/picture'>")


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Site) as server:
        yield server


@pytest.fixture
def egress(site: LocalServer) -> PinnedEgress:
    return PinnedEgress(BrowserPolicy(default_action="allow"), [site.grant])


@pytest.fixture
async def page(webview_device: str, egress: PinnedEgress) -> AsyncIterator[Page]:
    async with Session.open(webview_device, egress=egress) as session:
        yield await session.new_page()


def refused(egress: PinnedEgress) -> list[tuple[str, int, str]]:
    return [(it.host, it.port, it.decision) for it in egress.audit if it.decision.startswith("deny")]


async def test_a_refused_image_is_audited_once(page: Page, site: LocalServer, egress: PinnedEgress) -> None:
    await page.goto(site.url(""))
    assert refused(egress) == [("10.0.0.1", 80, "deny range:private")]


async def test_a_refused_navigation_is_audited_once(page: Page, egress: PinnedEgress) -> None:
    with pytest.raises(PolicyRefused):
        await page.goto("https://10.0.0.2/")
    assert refused(egress) == [("10.0.0.2", 443, "deny range:private")]
