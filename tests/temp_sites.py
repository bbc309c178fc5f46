"""A server of a test's own, and a page that shows what it serves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from bridge import Session
from bridge.page.page import Page
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening


@contextmanager
def own_site(pages: Mapping[str, str]) -> Iterator[LocalServer]:
    """Answers with the HTML of a path, and with that of "/" where there is none."""

    class Site(QuietHandler):
        def do_GET(self) -> None:
            self.respond(pages.get(self.path, pages["/"]).encode())

    with listening(Site) as server:
        yield server


@asynccontextmanager
async def own_page(device: str, html: str) -> AsyncIterator[Page]:
    """A tab that shows it, in a session of its own."""
    with own_site({"/": html}) as site:
        async with Session.open(device, grants=[site.grant]) as session:
            yield await session.new_page(site.url())
