"""A page that does not load is an answer, and the server goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge import Session, TestServerGrant
from bridge.errors import NavigationFailed
from bridge.model_tools import Asking, Desk, House, Nobody, SharedSession, Toolbox, tool_set
from bridge.policy.pinning import PinnedEgress
from bridge.policy.rules import policy_for
from bridge.surfaces.local_server import QuietHandler, listening

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


class _Unloadable(QuietHandler):
    def do_GET(self) -> None:
        if self.path == "/silent":
            self.close_connection = True
            return
        self.send_response(204 if self.path == "/empty" else 200)
        if self.path == "/attachment":
            self.send_header("Content-Disposition", "attachment")
        self.send_header("Content-Type", "text/html")
        if self.path != "/empty":
            self.send_header("Content-Length", "12")
        self.end_headers()
        if self.path != "/empty":
            self.wfile.write(b"<title>Fine<")


@pytest.fixture
def unloadable() -> Iterator[str]:
    with listening(_Unloadable) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def desk(webview_device: str, unloadable: str, tmp_path: Path) -> AsyncIterator[Desk]:
    asking = Asking()
    grant = TestServerGrant("127.0.0.1", int(unloadable.rpartition(":")[2]))
    egress = PinnedEgress(policy_for("model"), [grant], ask=asking.may_open)
    async with SharedSession(lambda: Session.open(webview_device, egress=egress)) as shared:
        yield Desk(House(egress, shared, asking, cache_folder=tmp_path))


async def test_what_is_no_page_is_answered_and_the_next_page_opens(desk: Desk, unloadable: str) -> None:
    web = Toolbox(tool_set("web"))
    for path in ("/empty", "/attachment", "/silent"):
        shown = await web.call("web_open", {"url": unloadable + path}, desk, Nobody())
        assert shown.is_error
        assert shown.text.startswith("web_open failed: navigation_failed"), shown.text
    shown = await web.call("web_open", {"url": unloadable + "/page"}, desk, Nobody())
    assert not shown.is_error, shown.text


async def test_an_error_that_nobody_can_explain_is_not_its_own_cause(desk: Desk, unloadable: str) -> None:
    page = await desk.new_page()
    with pytest.raises(NavigationFailed) as failed:
        await page.goto(f"{unloadable}/empty")
    assert failed.value.__cause__ is not failed.value
