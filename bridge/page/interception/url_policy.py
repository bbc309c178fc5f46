"""The policy inside the page: every request judged before it is sent, the ways around a proxy closed.

The gate on the desktop sees hosts and addresses and nothing of https but the name; this sees whole URLs, schemes and
redirects. What it cannot see (workers of other targets, WebSockets, prefetching) the gate does.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    NameNotResolved,
    NavigationFailed,
    PolicyRefused,
    ProtocolError,
    Unsupported,
)
from bridge.page.interception.fetch_domain import Rank
from bridge.page.interception.fetch_messages import Abort, PausedRequest, RouteAction
from bridge.page.navigation.navigate import navigation_failed
from bridge.page.target.attachment import Attachment
from bridge.policy.address import parse_address
from bridge.policy.decision import decide
from bridge.policy.gate.http_messages import InvalidResponse
from bridge.policy.pinning import PinnedEgress, policy_refused

MAX_REDIRECTS = 10
_MAX_TRAILS = 2000
_DECISION_TIMEOUT_S = 120.0  # a person may have to be asked
# None of these is a page's own address: the blank one, frames without one, and Chromium's page for a failed load.
_NO_ADDRESS = ("about:blank", "about:srcdoc", "chrome-error://chromewebdata/")
# What the browser says when the gate, which knows why, ends a connection; a failure that it calls otherwise is another.
_CONNECTION_ENDED = frozenset(
    {
        "ADDRESS_UNREACHABLE",
        "CONNECTION_ABORTED",
        "CONNECTION_CLOSED",
        "CONNECTION_FAILED",
        "CONNECTION_REFUSED",
        "CONNECTION_RESET",
        "CONNECTION_TIMED_OUT",
        "CONTENT_LENGTH_MISMATCH",
        "EMPTY_RESPONSE",
        "FAILED",
        "INCOMPLETE_CHUNKED_ENCODING",
        "INVALID_HTTP_RESPONSE",
        "NAME_NOT_RESOLVED",
        "PROXY_CONNECTION_FAILED",
        "SOCKET_NOT_CONNECTED",
        "TIMED_OUT",
        "TUNNEL_CONNECTION_FAILED",
    }
)
# What the browser says of a request that we have refused.
_REFUSED = "net::ERR_BLOCKED_BY_CLIENT"
_FAILURE_S = 60.0  # where nobody has seen the request begin
# Cancelled by the browser before anybody is asked; only a redirect leads there, as `goto` takes web addresses alone.
_UNSAFE_REDIRECTS = frozenset({"net::ERR_UNSAFE_REDIRECT", "net::ERR_UNKNOWN_URL_SCHEME"})

# UDP does not go through an HTTP proxy. Deleting leaves nothing behind that a page could hold on to: the script runs
# before the page's own, in every frame, also in the empty document of a frame that has only just been made. A window
# that a script opens is in its hands before anybody is attached to it, so its own are taken where it is handed out;
# one that opens at an address of its own may run before the attachment (WebView starts it at once). Workers have
# WebTransport only, which Chromium does not speak where a proxy is set.
BLOCK_PROXY_BYPASS = """
{
  const { apply } = Reflect;
  const take = (view) => {
    for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "RTCIceTransport",
        "RTCDtlsTransport", "RTCSctpTransport", "WebTransport", "WebTransportBidirectionalStream",
        "WebTransportDatagramDuplexStream", "WebTransportError"]) {
      try { delete view[name]; } catch (error) {}
    }
  };
  const taking = (open) => new Proxy(open, {
    apply(target, self, given) {
      const opened = apply(target, self, given);
      if (opened && opened !== self) take(opened);
      return opened;
    },
  });
  if (typeof RTCPeerConnection !== "undefined" || typeof WebTransport !== "undefined") {
    take(globalThis);
    globalThis.open = taking(globalThis.open);
    Document.prototype.open = taking(Document.prototype.open);
  }
}
"""
_WAYS_AROUND_OPEN = 'typeof RTCPeerConnection !== "undefined" || typeof WebTransport !== "undefined"'


@dataclass(slots=True)
class _Trail:
    """One chain of redirects."""

    first_url: str
    last_url: str
    began: float = field(default_factory=time.monotonic)
    redirects: int = 0
    refused: PolicyRefused | None = None


class UrlPolicy:
    """One session's policy, installed in each of its attachments.

    Attributes:
        blocks_proxy_bypass: Whether WebRTC and WebTransport are taken from pages.
        checks_addresses: Whether hosts are held to the addresses at which the browser has seen them, because no gate
            does it: what has come by then has come, but nothing more is asked of such a host and nothing shown of it.
    """

    def __init__(self, egress: PinnedEgress, *, blocks_proxy_bypass: bool) -> None:
        self.blocks_proxy_bypass = blocks_proxy_bypass
        self.checks_addresses = False
        self._egress = egress
        self._trails: OrderedDict[str, _Trail] = OrderedDict()
        self._by_first_url: OrderedDict[str, _Trail] = OrderedDict()
        self._moved: dict[str, PolicyRefused] = {}

    async def install(self, attachment: Attachment, *, timeout_s: float) -> tuple[bool, bool]:
        """Whether requests are asked about, and whether the ways around a proxy are closed."""

        async def judge(request: PausedRequest) -> RouteAction | None:
            return await self._judge(request, attachment.state.main_frame_id or "")

        attachment.check_shown = self.check_shown
        if self.checks_addresses:
            attachment.connection.on_event(self._watch)
        closed = self.blocks_proxy_bypass and await self._close_ways_around(attachment, timeout_s)
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
        if error.net_error == _REFUSED:  # another tab goes to the same address, and has not been refused yet
            for earlier in reversed(self._trails.values()):
                if earlier.first_url == error.url and earlier.refused is not None:
                    return earlier.refused
        if error.net_error in _UNSAFE_REDIRECTS:
            return PolicyRefused(
                f"{error.url[:200]} is refused: it redirects to an address of another kind than http and https",
                url=error.url[:2000],
                rule="redirects",
            )
        if error.net_error.removeprefix("net::ERR_") not in _CONNECTION_ENDED:
            return error
        within_s = _FAILURE_S if trail is None else time.monotonic() - trail.began
        match self._egress.recent_failure(trail.last_url if trail is not None else error.url, within_s=within_s):
            case PolicyRefused() as refused:
                return refused
            case NameNotResolved() as unknown:
                hint = (
                    f"Check the host name: this machine, which looks names up for the device, says {unknown.message}."
                )
                failed = NavigationFailed(error.url, "net::ERR_NAME_NOT_RESOLVED", hint=hint)
                failed.details.update(unknown.details)  # the host, which a redirect may have named
                return failed
            case DeadlineExceeded() | TimeoutError():
                return navigation_failed(error.url, "net::ERR_CONNECTION_TIMED_OUT")
            case ConnectionRefusedError():
                hint = "Nothing listens there, as far as this machine, which connects for the device, can see."
                return NavigationFailed(error.url, "net::ERR_CONNECTION_REFUSED", hint=hint)
            case InvalidResponse() as bad:
                hint = f"The server does not answer in HTTP that can be passed on: {bad}."
                return NavigationFailed(error.url, "net::ERR_INVALID_HTTP_RESPONSE", hint=hint)
        return error

    async def _judge(self, request: PausedRequest, main_frame_id: str) -> RouteAction | None:
        is_top = request.kind == "Document" and request.frame_id == main_frame_id
        trail = self._follow(request, is_top)
        try:
            if trail.redirects > MAX_REDIRECTS:
                raise PolicyRefused(
                    f"{trail.first_url[:200]} is refused: more than {MAX_REDIRECTS} redirects",
                    url=trail.first_url[:2000],
                    rule="redirects",
                )
            await self._egress.check_request(request.url, use="navigation" if is_top else "request")
            self._check_seen(request.url)
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

    def check_shown(self, url: str) -> None:
        """Refuse to hand out content of a document that may not be open."""
        if not url or url.partition("#")[0].partition("?")[0] in _NO_ADDRESS:
            return
        decision = decide(self._egress.policy, url, self._egress.grants)
        if not decision.allowed and not self._egress.was_approved(decision):
            raise policy_refused(decision, url, "the page led there, and nothing of it is shown")
        self._check_seen(url)

    def _watch(self, method: str, params: Mapping[str, Any], _session_id: str | None) -> None:
        """Take the address from which a response came."""
        response = params.get("response") if method == "Network.responseReceived" else None
        if not isinstance(response, Mapping) or response.get("fromDiskCache") or not response.get("remoteIPAddress"):
            return
        decision = decide(self._egress.policy, str(response.get("url", "")), self._egress.grants)
        if decision.host is None or decision.port is None or decision.rule == "grant":
            return
        try:
            self._egress.check_resolved_host(decision.host, str(response["remoteIPAddress"]).strip("[]"))
        except PolicyRefused as error:
            rule = str(error.details.get("rule", ""))
            if rule == "rebinding":
                return  # another public address: the browser has its own answer, whose other addresses nobody has seen
            self._moved.setdefault(decision.host, error)
            self._egress.record_refusal(decision.host, decision.port, rule)

    def _check_seen(self, url: str) -> None:
        """Refuse a host that was seen where it may not be."""
        if self._moved and (moved := self._moved.get(parse_address(url).host or "")) is not None:
            raise moved

    async def _close_ways_around(self, attachment: Attachment, timeout_s: float) -> bool:
        params = {"source": BLOCK_PROXY_BYPASS, "runImmediately": True}
        try:
            await attachment.call("Page.addScriptToEvaluateOnNewDocument", params, timeout_s=timeout_s)
            # An engine that does not know runImmediately has left the document that is there as it was.
            await attachment.call("Runtime.evaluate", {"expression": BLOCK_PROXY_BYPASS}, timeout_s=timeout_s)
            answer = await attachment.call(
                "Runtime.evaluate", {"expression": _WAYS_AROUND_OPEN, "returnByValue": True}, timeout_s=timeout_s
            )
        except ProtocolError:
            return False
        return answer.get("result", {}).get("value") is False
