"""The state of a page session follows from its events."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.page.logs.request_log import RequestStore
from bridge.page.target.page_state import PageState


def navigated(frame_id: str, loader_id: str, url: str, parent_id: str | None = None) -> tuple[str, dict[str, Any]]:
    frame: dict[str, Any] = {"id": frame_id, "loaderId": loader_id, "url": url}
    if parent_id:
        frame["parentId"] = parent_id
    return "Page.frameNavigated", {"frame": frame}


def world(context_id: int, frame_id: str, name: str = "", *, main: bool = False) -> tuple[str, dict[str, Any]]:
    return "Runtime.executionContextCreated", {
        "context": {
            "id": context_id,
            "uniqueId": f"u{context_id}",
            "name": name,
            "auxData": {"frameId": frame_id, "isDefault": main},
        }
    }


@pytest.fixture
def state() -> PageState:
    state = PageState()
    state.reduce(*navigated("top", "L1", "https://a.example/"))
    return state


def test_frame_without_parent_is_the_main_frame(state: PageState) -> None:
    assert state.main is not None
    assert (state.main.frame_id, state.main.url, state.navigations) == ("top", "https://a.example/", 1)


def test_navigation_resets_the_lifecycle(state: PageState) -> None:
    state.reduce("Page.lifecycleEvent", {"frameId": "top", "loaderId": "L1", "name": "load"})
    assert state.main is not None
    assert state.main.lifecycle == {"load"}
    state.reduce(*navigated("top", "L2", "https://b.example/"))
    assert state.main.lifecycle == set()
    state.reduce("Page.lifecycleEvent", {"frameId": "top", "loaderId": "L1", "name": "load"})
    assert state.main.lifecycle == set()


def test_detaching_a_frame_removes_its_descendants(state: PageState) -> None:
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce("Page.frameAttached", {"frameId": "grandchild", "parentFrameId": "child"})
    state.reduce("Page.frameDetached", {"frameId": "child", "reason": "remove"})
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top"]


def test_frame_swapped_to_another_process_stays(state: PageState) -> None:
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce("Page.frameDetached", {"frameId": "child", "reason": "swap"})
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top", "child"]


def test_frames_are_ordered_parents_first(state: PageState) -> None:
    for frame_id, parent_id in (("b", "top"), ("a", "top"), ("b1", "b"), ("a1", "a")):
        state.reduce("Page.frameAttached", {"frameId": frame_id, "parentFrameId": parent_id})
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top", "b", "a", "b1", "a1"]


def test_newest_context_of_a_frame_belongs_to_its_document(state: PageState) -> None:
    state.reduce(*world(1, "top", "ours"))
    state.reduce(*world(2, "top", main=True))
    state.reduce("Runtime.executionContextDestroyed", {"executionContextId": 1})
    assert state.context_of("top", "ours") is None
    state.reduce(*world(3, "top", "ours"))
    found = state.context_of("top", "ours")
    assert found is not None
    assert found.key == "u3"
    assert state.has_main_context("top")


@given(
    added=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    lingering=st.integers(0, 3),
    random=st.randoms(use_true_random=False),
)
def test_a_document_s_own_context_is_found_among_those_that_child_frames_add(
    added: list[int], lingering: int, random: Random
) -> None:
    """`added` is the number of contexts that child frames add to each document; Runtime.enable replays in any order."""
    ids = itertools.count(1)
    documents = [
        [world(next(ids), "top", main=True), *(world(next(ids), "top", "ours") for _ in range(1 + count))]
        for count in added
    ]
    own = documents[-1][1][1]["context"]["uniqueId"]
    events = [event for document in documents[-1 - lingering :] for event in document]
    random.shuffle(events)
    state = PageState()
    state.reduce(*navigated("top", "L1", "https://a.example/"))
    for event in events:
        state.reduce(*event)
    found = state.context_of("top", "ours")
    assert found is not None
    assert found.key == own


def request(request_id: str, kind: str, **more: str) -> tuple[str, dict[str, Any]]:
    return "Network.requestWillBeSent", {
        "requestId": request_id,
        "type": kind,
        "frameId": "top",
        "request": {"url": f"https://a.example/{request_id}"},
        **more,
    }


def test_requests_since_leaves_out_earlier_and_background_requests(state: PageState) -> None:
    state.reduce(*request("before", "XHR"))
    order = state.request_order
    state.reduce(*request("fetch", "Fetch"))
    state.reduce(*request("socket", "WebSocket"))
    assert [found.request_id for found in state.requests_since(order)] == ["fetch"]
    state.reduce("Network.loadingFinished", {"requestId": "fetch"})
    assert state.requests_since(order) == []


def test_document_request_of_the_main_frame_is_a_navigation(state: PageState) -> None:
    state.reduce(*request("L2", "Document", loaderId="L2"))
    assert state.navigating_to == "https://a.example/L2"
    state.reduce(*navigated("top", "L2", "https://a.example/L2"))
    assert state.navigating_to is None


def test_same_document_navigation_is_not_pending(state: PageState) -> None:
    state.reduce(
        "Page.frameStartedNavigating",
        {"frameId": "top", "url": "https://a.example/#x", "navigationType": "sameDocument"},
    )
    assert state.navigating_to is None
    state.reduce("Page.navigatedWithinDocument", {"frameId": "top", "url": "https://a.example/#x"})
    assert state.main is not None
    assert state.main.url == "https://a.example/#x"


def test_dialog_is_kept_until_it_closes(state: PageState) -> None:
    state.reduce("Page.javascriptDialogOpening", {"type": "alert", "message": "hello", "url": "https://a.example/"})
    assert state.dialog is not None
    assert state.dialog.message == "hello"
    state.reduce("Page.javascriptDialogClosed", {})
    assert state.dialog is None


def test_fields_and_events_of_a_newer_webview_are_ignored(state: PageState) -> None:
    assert not state.reduce("Page.somethingNew", {"a": 1})
    assert state.reduce("Page.frameAttached", {"frameId": "x", "parentFrameId": "top", "novelty": {}})


def test_new_document_removes_frames_of_the_old_one_without_detach_events(state: PageState) -> None:
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce("Page.frameAttached", {"frameId": "grandchild", "parentFrameId": "child"})
    state.reduce("Page.frameAttached", {"frameId": "other", "parentFrameId": "top"})
    state.reduce(*navigated("child", "C2", "https://c.example/", "top"))
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top", "child", "other"]
    state.reduce(*navigated("top", "L2", "https://b.example/"))
    assert [frame.frame_id for frame in state.ordered_frames()] == ["top"]


def isolated(state: PageState) -> None:
    """A frame of the page that went into a renderer of its own."""
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce("Page.frameDetached", {"frameId": "child", "reason": "swap"})
    target = {"targetId": "child", "type": "iframe"}
    state.reduce("Target.attachedToTarget", {"sessionId": "S", "targetInfo": target})
    state.reduce(*navigated("child", "C1", "https://c.example/", "top"), "S")


def test_context_ids_are_scoped_to_their_session(state: PageState) -> None:
    isolated(state)
    state.reduce(*world(1, "top", "ours"))
    state.reduce(*world(1, "child", "ours"), "S")
    found = [state.context_of(frame_id, "ours") for frame_id in ("top", "child")]
    assert [world and world.session_id for world in found] == [None, "S"]
    state.reduce("Runtime.executionContextsCleared", {}, "S")
    assert state.context_of("top", "ours")
    assert not state.context_of("child", "ours")


def test_crashed_child_renderer_affects_only_its_frames(state: PageState) -> None:
    isolated(state)
    state.reduce(*world(1, "child", "ours"), "S")
    state.reduce("Inspector.targetCrashed", {}, "S")
    assert not state.crashed
    assert state.frames["child"].is_crashed
    assert not state.context_of("child", "ours")
    state.reduce(*navigated("child", "C2", "https://c.example/", "top"), "S")
    assert not state.frames["child"].is_crashed
    assert state.main_frame_id == "top"


def test_frame_back_in_its_parents_renderer_survives_the_end_of_its_session(state: PageState) -> None:
    isolated(state)
    state.reduce("Page.frameAttached", {"frameId": "child", "parentFrameId": "top"})
    state.reduce("Target.detachedFromTarget", {"sessionId": "S"})
    assert state.frames["child"].session_id is None
    isolated(state)
    state.reduce("Target.detachedFromTarget", {"sessionId": "S"})
    assert "child" not in state.frames


def test_the_log_and_the_requests_in_flight_are_views_of_the_same_entries() -> None:
    log = RequestStore(kept=1)
    state = PageState(log.reducer("t1"))
    state.reduce(*navigated("top", "L1", "https://a.example/"))
    state.reduce(*request("first", "XHR"))
    state.reduce(*request("second", "XHR"))
    assert list(log) == [state.requests["second"]]
    assert "first" in state.requests, "a request that the log dropped is still in flight"
    state.reduce("Network.loadingFinished", {"requestId": "first"})
    assert list(state.requests) == ["second"]


def test_requests_pending_over_an_earlier_connection_are_lost() -> None:
    log = RequestStore(kept=10)
    earlier = log.reducer("t1")
    earlier.reduce(*request("ended", "XHR"))
    earlier.reduce("Network.loadingFailed", {"requestId": "ended", "errorText": "net::ERR_FAILED"})
    earlier.reduce(*request("pending", "XHR"))
    log.reducer("t1").reduce(*request("next", "XHR"))
    assert [(entry.request_id, entry.state) for entry in log] == [
        ("ended", "failed"), ("pending", "lost"), ("next", "pending")
    ]  # fmt: skip
