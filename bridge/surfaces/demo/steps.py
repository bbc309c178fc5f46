"""The demo: opens five kinds of page, reads them and acts on them by ref."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.cost import Cost
from bridge.page.page import Page
from bridge.page.results import ActionResult
from bridge.snapshot import NodeRef, SnapshotResult
from bridge.surfaces.local_server import LocalServer


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step of the demo.

    Attributes:
        page: The page, such as "shop".
        did: The Python call.
        outcome: The outcome, in lines.
        file, content: A file to save, if the step produces one.
    """

    page: str
    did: str
    outcome: str
    cost: Cost
    file: Path | None = None
    content: bytes = field(default=b"", repr=False)

    def to_json(self) -> dict[str, Any]:
        return {"page": self.page, "did": self.did, "outcome": self.outcome, "cost": self.cost.to_json()}


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """The files of the demo."""

    snapshot: Path
    annotated: Path

    def to_json(self) -> dict[str, str]:
        return {"snapshot": str(self.snapshot), "annotated": str(self.annotated)}


async def run_demo(page: Page, server: LocalServer, files: DemoFiles) -> AsyncIterator[DemoStep]:
    """Run all steps in one tab; yields each step when it is done."""
    for part in (_shop, _login, _controlled, _late, _frames):
        async for step in part(page, server):
            yield step
    async for step in _save(page, server, files):
        yield step


async def _shop(page: Page, server: LocalServer) -> AsyncIterator[DemoStep]:
    demo = _Narrator("shop", page)
    yield await demo.goto(server.url("shop.html"))
    yield await demo.snapshot()
    search = demo.find(role="searchbox")
    yield await demo.act(f'fill("{search.ref}", "gold")', search, page.fill(search.ref, "gold"))
    yield await demo.act('press("Enter")', None, page.keyboard.press("Enter"))
    await demo.look()
    button = demo.find(role="button", name="Add to cart", nth=1)
    yield await demo.act(f'click("{button.ref}")', button, page.click(button.ref))


async def _login(page: Page, server: LocalServer) -> AsyncIterator[DemoStep]:
    demo = _Narrator("login", page)
    yield await demo.goto(server.url("login.html"))
    await demo.look()
    email, button = demo.find(name="E-mail"), demo.find(role="button", name="Sign in")
    yield await demo.act(f'fill("{email.ref}", "ada")', email, page.fill(email.ref, "ada"))
    yield await demo.act(f'click("{button.ref}")', button, page.click(button.ref))
    # The fields have new descriptions; a new snapshot shows their refs.
    await demo.look()
    email, password = demo.find(name="E-mail"), demo.find(name="Password")
    button = demo.find(role="button", name="Sign in")
    await page.fill(email.ref, "ada@example.com")
    await page.fill(password.ref, "analytical engine")
    yield await demo.act(f'click("{button.ref}")', button, page.click(button.ref))


async def _controlled(page: Page, server: LocalServer) -> AsyncIterator[DemoStep]:
    demo = _Narrator("controlled form", page)
    yield await demo.goto(server.url("controlled.html"))
    await demo.look()
    name, code = demo.find(name="Name on the ticket"), demo.find(name="Discount code")
    yield await demo.act(f'fill("{name.ref}", "Ada Lovelace")', name, page.fill(name.ref, "Ada Lovelace"))
    yield await demo.act(f'fill("{code.ref}", "spring-26")', code, page.fill(code.ref, "spring-26"))
    terms = demo.find(role="checkbox")
    yield await demo.act(f'click("{terms.ref}")', terms, page.click(terms.ref))


async def _late(page: Page, server: LocalServer) -> AsyncIterator[DemoStep]:
    demo = _Narrator("late single-page app", page)
    yield await demo.goto(server.url("spa.html"))
    waited = await page.wait_for(text="A short history of knots", timeout_s=10)
    yield DemoStep(
        demo.page_name,
        'wait_for(text="A short history of knots")',
        f"appeared after {waited.waited_ms:.0f} ms",
        waited.cost,
    )
    await demo.look()
    story = demo.find(role="link", name="A short history of knots")
    yield await demo.act(f'click("{story.ref}")', story, page.click(story.ref))


async def _frames(page: Page, server: LocalServer) -> AsyncIterator[DemoStep]:
    demo = _Narrator("frames and shadow roots", page)
    yield await demo.goto(server.url("frames.html"))
    yield await demo.snapshot()
    boxed = demo.find(role="button", name="Press me in the sandbox")
    yield await demo.act(f'click("{boxed.ref}")', boxed, page.click(boxed.ref))
    star = demo.find(role="button", name="5 stars", nth=0)
    yield await demo.act(f'click("{star.ref}")', star, page.click(star.ref))


async def _save(page: Page, server: LocalServer, files: DemoFiles) -> AsyncIterator[DemoStep]:
    demo = _Narrator("shop", page)
    yield await demo.goto(server.url("shop.html"))
    shot = await page.snapshot(renumber=True)
    assert shot.cost is not None
    yield DemoStep(
        demo.page_name,
        "snapshot(renumber=True)",
        f"to {files.snapshot}",
        shot.cost,
        files.snapshot,
        f"{shot.text}\n".encode(),
    )
    image = await page.screenshot(annotate=True)
    outcome = f"to {files.annotated} ({image.width_px} x {image.height_px} px, {len(image.legend)} boxes)"
    yield DemoStep(demo.page_name, "screenshot(annotate=True)", outcome, image.cost, files.annotated, image.image_bytes)


class _Narrator:
    """Runs calls on a page and describes their outcomes."""

    def __init__(self, page_name: str, page: Page) -> None:
        self.page_name = page_name
        self._page = page
        self._seen: SnapshotResult | None = None

    async def goto(self, url: str) -> DemoStep:
        found = await self._page.goto(url)
        outcome = f'{found.status} "{found.title}"'
        return DemoStep(self.page_name, f'goto("{url}")', outcome, found.cost)

    async def look(self) -> SnapshotResult:
        self._seen = await self._page.snapshot()
        return self._seen

    async def snapshot(self) -> DemoStep:
        shot = await self.look()
        assert shot.cost is not None
        return DemoStep(self.page_name, "snapshot()", shot.text, shot.cost)

    def find(self, **wanted: Any) -> NodeRef:
        assert self._seen is not None
        return self._seen.find(**wanted)

    async def act(self, call: str, node: NodeRef | None, result: Awaitable[ActionResult]) -> DemoStep:
        done = await result
        on = f"  ({node.role} {node.name!r})" if node is not None else ""
        return DemoStep(self.page_name, f"{call}{on}", str(done.changes), done.cost)
