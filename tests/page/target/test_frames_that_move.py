"""A frame that goes into another renderer: what the one that it left still says of it is of a document that was left.

The two renderers and the browser between them tell of one frame, each in its own time; these are orders that Chromium
was seen to tell in on a busy machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bridge.page.page import Page
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.page_state import PageState
from tests.conftest import LocalServer
from tests.page.main_world import awaited_frame

LEFT = {"id": "child", "parentId": "top", "loaderId": "C0", "url": ""}
SHOWN = {"id": "child", "parentId": "top", "loaderId": "C1", "url": "https://c.example/"}


def world(context_id: int) -> tuple[str, dict[str, Any]]:
    aux = {"frameId": "child", "isDefault": False}
    return "Runtime.executionContextCreated", {"context": {"id": context_id, "name": "ours", "auxData": aux}}


@pytest.fixture
def state() -> PageState:
    """A page whose frame has a world in the page's own renderer and shows its document in another, S."""
    state = PageState()
    state.reduce("Page.frameNavigated", {"frame": {"id": "top", "loaderId": "L1", "url": "https://a.example/"}})
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce(*world(3))
    assert state.context_of("child", "ours")
    target = {"targetId": "child", "type": "iframe", "parentFrameId": "top"}
    state.reduce("Target.attachedToTarget", {"sessionId": "S", "targetInfo": target})
    state.reduce("Page.frameNavigated", {"frame": SHOWN}, "S")
    return state


def test_late_context_of_the_old_renderer_is_ignored(state: PageState) -> None:
    assert state.context_of("child", "ours") is None
    state.reduce(*world(1), "S")
    state.reduce(*world(4))  # asked for before the frame went, and told of after
    found = state.context_of("child", "ours")
    assert found
    assert (found.session_id, found.context_id) == ("S", 1)


def test_late_frame_tree_of_the_old_renderer_is_ignored(state: PageState) -> None:
    top = {"id": "top", "loaderId": "L1", "url": "https://a.example/"}
    below = {"frame": {"id": "below", "parentId": "child", "loaderId": "B0", "url": ""}}
    state.load_tree({"frame": top, "childFrames": [{"frame": LEFT, "childFrames": [below]}]})
    child = state.frames["child"]
    assert (child.url, child.loader_id, child.session_id) == ("https://c.example/", "C1", "S")
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top", "child"]
    state.load_tree({"frame": SHOWN | {"url": "https://c.example/2"}}, "S")
    assert child.url == "https://c.example/2"


def test_late_lifecycle_event_of_the_old_renderer_is_ignored(state: PageState) -> None:
    state.reduce("Page.lifecycleEvent", {"frameId": "child", "loaderId": "C1", "name": "load"}, "S")
    state.reduce("Page.lifecycleEvent", {"frameId": "child", "loaderId": "C0", "name": "init"})
    assert state.frames["child"].lifecycle == {"load"}


def test_late_same_document_navigation_of_the_old_renderer_is_ignored(state: PageState) -> None:
    state.reduce("Page.navigatedWithinDocument", {"frameId": "child", "url": "https://a.example/#old"})
    assert state.frames["child"].url == "https://c.example/"


ADD_FRAME = "document.body.append(Object.assign(document.createElement('iframe'),{src:'inner.html'}))"


@pytest.fixture
async def waiting_frame(page: Page, local_server: LocalServer) -> AsyncIterator[tuple[Attachment, str]]:
    """A frame whose page does not come: its first, empty document has no script world but those that are asked for."""
    async with awaited_frame(page, local_server, ADD_FRAME):
        attachment = await page.attached()
        assert await attachment.condition.wait(lambda: len(attachment.state.ordered_frames()) == 2, timeout_s=20)
        frame_id = attachment.state.ordered_frames()[1].frame_id
        assert attachment.state.context_of(frame_id, CONTEXT_NAME) is None
        yield attachment, frame_id


@pytest.mark.browser
async def test_context_of_a_cancelled_creator_still_gets_the_script(
    waiting_frame: tuple[Attachment, str],
) -> None:
    attachment, frame_id = waiting_frame
    made = {"frameId": frame_id, "worldName": CONTEXT_NAME}
    await attachment.call("Page.createIsolatedWorld", made, timeout_s=20)
    assert attachment.state.context_of(frame_id, CONTEXT_NAME)
    assert await attachment.evaluate(frame_id, "typeof __agentBrowser.waitFor", timeout_s=20) == "function"
