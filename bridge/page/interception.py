"""The policy inside the page: every request judged before it is sent, the ways around a proxy closed.

The gate on the desktop sees hosts and addresses and nothing of https but the name; this sees whole URLs, schemes and
redirects. What it cannot see (workers of other targets, WebSockets, prefetching) the gate does.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    NameNotResolved,
    NavigationFailed,
    PolicyRefused,
    ProtocolError,
    Unsupported,
)
from bridge.page.attachment import Attachment
from bridge.page.fetching import Abort, PausedRequest, Rank, Verdict
from bridge.page.navigation import navigation_failed
from bridge.policy.judge import decide
from bridge.policy.pinning import PinnedEgress, refusal

MAX_REDIRECTS = 10
_MAX_TRAILS = 2000
_DECISION_TIMEOUT_S = 120.0  # a person may have to be asked
# None of these is a page's own address: the blank one, frames without one, and Chromium's page for a failed load.
_NO_ADDRESS = ("about:blank", "about:srcdoc", "chrome-error://chromewebdata/")

# UDP does not go through an HTTP proxy. Deleting leaves nothing behind that a page could hold on to: the script runs
# before the page's own, in every frame, also in the empty document of a frame that has only just been made.
CLOSE_WAYS_AROUND = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport",
    "RTCDtlsTransport", "RTCSctpTransport", "WebTransport", "WebTransportBidirectionalStream",
    "WebTransportDatagramDuplexStream", "WebTransportError"]) {
  try { delete globalThis[name]; } catch (error) {}
}
"""
_WAYS_AROUND_OPEN = 'typeof RTCPeerConnection !== "undefined" || typeof WebTransport !== "undefined"'


@dataclass(slots=True)
class _Trail:
    """One chain of redirects."""

    first_url: str
    last_url: str
    redirects: int = 0
    refused: PolicyRefused | None = None


class Interception:
    """One session's policy, installed in each of its attachments.

    Attributes:
        closes_ways_around: Whether WebRTC and WebTransport are taken from pages.
    """

    def __init__(self, egress: PinnedEgress, *, closes_ways_around: bool) -> None:
        self.closes_ways_around = closes_ways_around
        self._egress = egress
        self._trails: OrderedDict[str, _Trail] = OrderedDict()
        self._by_first_url: OrderedDict[str, _Trail] = OrderedDict()

    async def install(self, attachment: Attachment, *, timeout_s: float) -> tuple[bool, bool]:
        """Whether requests are asked about, and whether the ways around a proxy are closed."""

        async def judge(request: PausedRequest) -> Verdict | None:
            return await self._judge(request, attachment.state.main_frame_id or "")

        attachment.check_shown = self._check_shown
        closed = self.closes_ways_around and await self._close_ways_around(attachment, timeout_s)
        try:
            await attachment.fetching.add(
                judge, rank=Rank.POLICY, timeout_s=timeout_s, decision_timeout_s=_DECISION_TIMEOUT_S
            )
        except Unsupported:
            return False, closed
        return True, closed

    def explain(self, error: NavigationFailed) -> BridgeError:
        """What stands behind a navigation that failed, where the policy or the gate knows."""
        trail = self._by_first_url.get(error.url)
        if trail is not None and trail.refused is not None:
            return trail.refused
        match self._egress.recent_failure(trail.last_url if trail is not None else error.url):
            case PolicyRefused() as refused:
                return refused
            case NameNotResolved():
                return navigation_failed(error.url, "net::ERR_NAME_NOT_RESOLVED")
            case DeadlineExceeded() | TimeoutError():
                return navigation_failed(error.url, "net::ERR_CONNECTION_TIMED_OUT")
            case ConnectionRefusedError():
                return navigation_failed(error.url, "net::ERR_CONNECTION_REFUSED")
        return error

    async def _judge(self, request: PausedRequest, main_frame_id: str) -> Verdict | None:
        is_top = request.kind == "Document" and request.frame_id == main_frame_id
        trail = self._follow(request, is_top)
        try:
            if trail.redirects > MAX_REDIRECTS:
                raise PolicyRefused(
                    f"{trail.first_url[:200]} is refused: more than {MAX_REDIRECTS} redirects", rule="redirects"
                )
            await self._egress.check_request(request.url, use="navigation" if is_top else "request")
        except PolicyRefused as error:
            trail.refused = error
            return Abort("BlockedByClient")
        return None

    def _follow(self, request: PausedRequest, is_top: bool) -> _Trail:
        key = request.network_id or request.request_id
        trail = self._trails.get(key)
        if trail is None:
            trail = self._trails[key] = _Trail(request.url, request.url)
            if len(self._trails) > _MAX_TRAILS:
                self._trails.popitem(last=False)
        elif request.redirected or request.url != trail.last_url:
            trail.redirects += 1
            trail.last_url = request.url
        if is_top:
            self._by_first_url[trail.first_url] = trail
            if len(self._by_first_url) > _MAX_TRAILS:
                self._by_first_url.popitem(last=False)
        return trail

    def _check_shown(self, url: str) -> None:
        """Refuse to hand out content of a document that may not be open."""
        if not url or url.partition("#")[0].partition("?")[0] in _NO_ADDRESS:
            return
        decision = decide(self._egress.policy, url, self._egress.grants)
        if not decision.allowed and not self._egress.was_allowed_when_asked(decision):
            raise refusal(decision, url, "the page went there by itself, and nothing of it is shown")

    async def _close_ways_around(self, attachment: Attachment, timeout_s: float) -> bool:
        params = {"source": CLOSE_WAYS_AROUND, "runImmediately": True}
        try:
            await attachment.call("Page.addScriptToEvaluateOnNewDocument", params, timeout_s=timeout_s)
            # An engine that does not know runImmediately has left the document that is there as it was.
            await attachment.call("Runtime.evaluate", {"expression": CLOSE_WAYS_AROUND}, timeout_s=timeout_s)
            answer = await attachment.call(
                "Runtime.evaluate", {"expression": _WAYS_AROUND_OPEN, "returnByValue": True}, timeout_s=timeout_s
            )
        except ProtocolError:
            return False
        return answer.get("result", {}).get("value") is False
