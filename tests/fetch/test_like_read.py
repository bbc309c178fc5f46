"""The same page fetched and rendered: `webfetch` and `Page.read` say the same of what needs no browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from fetched_pages import ARTICLE, HIDDEN
from site_server import serve

from bridge import Session
from bridge.policy import TestServerGrant, policy_for
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch import webfetch

pytestmark = pytest.mark.browser

TESTS = Path(__file__).parents[1]
SHEET = "a style sheet hides it"
FOLDED = "it is folded up, and a person could unfold it"
BROWSER = "only a browser has it: a shadow root, a frame"
PAGES = {
    "article": ARTICLE,
    "content": (TESTS / "snapshot_html" / "pages" / "content.html").read_text(),
    "hidden": HIDDEN,
    "reading": (TESTS / "pages" / "reading.html").read_text(),
}
# Lines that only one of the two has, by their beginning, and why.
DIFFERENCES = {
    "article": {},
    "content": {},
    "hidden": {"Folded words": FOLDED},
    "reading": {
        "Ignore all": SHEET,
        "From the shadow": BROWSER,
        "From the frame": BROWSER,
    },
}


async def test_static_pages_read_the_same_fetched_and_rendered(webview_device: str) -> None:
    async with serve() as site:
        site.name = "127.0.0.1"
        for name, html in PAGES.items():
            site.add(f"/{name}", html)
        site.add("/reading-frame.html", (TESTS / "pages" / "reading-frame.html").read_text())
        grants = [TestServerGrant("127.0.0.1", site.port)]
        egress = PinnedEgress(policy_for("operator"), grants)
        unexplained, unseen = [], []
        async with Session.open(webview_device, grants=grants) as session:
            page = await session.new_page()
            for name in PAGES:
                await page.goto(site.url(f"/{name}"))
                read = (await page.read()).markdown.splitlines()
                fetched = (await webfetch(site.url(f"/{name}"), egress=egress)).markdown.splitlines()
                different = {line for line in {*read} ^ {*fetched} if line}
                reasons = DIFFERENCES[name]
                unexplained += [f"{name}: {line}" for line in different if not line.startswith(tuple(reasons))]
                unseen += [
                    f"{name}: {start}" for start in reasons if not any(map(str.startswith, different, [start] * 99))
                ]
                assert len(read) > 4
    assert not unexplained, "\n".join(unexplained)
    assert unseen == []
