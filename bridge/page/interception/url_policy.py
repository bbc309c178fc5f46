"""Enforces the policy in the page: checks every request before it is sent, and blocks traffic that bypasses a proxy.

The gate on this machine sees hosts and addresses, and of https only the name. This module sees whole URLs, schemes and
redirects. The gate covers what interception does not see: workers of other targets, WebSockets, prefetching.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
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
from bridge.page.fetch_domain import Rank
from bridge.page.fetch_messages import Abort, PausedRequest, RouteAction
from bridge.page.navigation.errors import navigation_failed
from bridge.page.target.attachment import Attachment
from bridge.policy.decision import Decision, decide
from bridge.policy.gate.http_messages import InvalidResponse
from bridge.policy.pinning import PinnedEgress, policy_refused
from bridge.snapshot.injected import packaged_script

MAX_REDIRECTS = 10
_MAX_CHAINS = 2000
_DECISION_TIMEOUT_S = 120.0  # a person may have to be asked
_RESOLVE_S = 10.0
_MAX_SHOWN_DECISIONS = 100
_MAX_REMEMBERED_URL_CHARS = 2_000
# Documents without an address of their own: blank, srcdoc frames, and Chromium's page for a failed load.
_NO_ADDRESS = ("about:blank", "about:srcdoc", "chrome-error://chromewebdata/")
# Net errors by which the browser reports that the gate ended a connection. The gate knows the reason.
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
# Events with a response, and its field.
_RESPONSE_FIELDS = {"Network.responseReceived": "response", "Network.requestWillBeSent": "redirectResponse"}
# Net error of a request that `Fetch` has refused.
_REFUSED = frozenset({"net::ERR_BLOCKED_BY_CLIENT", "net::ERR_ABORTED"})
_FAILURE_S = 60.0  # where the beginning of the request was not seen
# The browser cancels these without `Fetch` events. Only a redirect leads there: `goto` takes web addresses alone.
_UNSAFE_REDIRECTS = frozenset({"net::ERR_UNSAFE_REDIRECT", "net::ERR_UNKNOWN_URL_SCHEME"})

_BYPASS_IS_OPEN = 'typeof RTCPeerConnection !== "undefined" || typeof WebTransport !== "undefined"'


@dataclass(slots=True)
class _RedirectChain:
    """A request and the redirects that it followed."""

    first_url: str
    last_url: str
    began: float = field(default_factory=time.monotonic)
    redirects: int = 0
    refused: PolicyRefused | None = None


class UrlPolicy:
    """The policy of one session, installed in each of its attachments.

    Attributes:
        blocks_proxy_bypass: Whether pages lose WebRTC and WebTransport.
        checks_addresses: Whether the addresses that the browser reports for hosts are checked, because no gate does
            it. The first response of a forbidden address has arrived by then; later requests to the host are refused,
            and its content is not shown.
    """

    def __init__(self, egress: PinnedEgress, *, blocks_proxy_bypass: bool) -> None:
        self.blocks_proxy_bypass = blocks_proxy_bypass
        self.checks_addresses = False
        self._egress = egress
        self._chains: OrderedDict[str, _RedirectChain] = OrderedDict()
        self._by_first_url: OrderedDict[str, _RedirectChain] = OrderedDict()
        self._refused_hosts: dict[str, PolicyRefused] = {}
        self._shown_decisions: OrderedDict[str, Decision] = OrderedDict()

    async def install(self, attachment: Attachment, *, timeout_s: float) -> tuple[bool, bool]:
        """Returns two flags: requests are intercepted, and bypassing the proxy is blocked."""

        async def check(request: PausedRequest) -> RouteAction | None:
            return await self._check(request, attachment)

        def check_socket(method: str, params: Mapping[str, Any], _session_id: str | None) -> None:
            if method == "Network.webSocketCreated":
                self._check_socket(str(params.get("url", "")), attachment)

        attachment.check_shown = self.check_shown
        attachment.connection.on_event(check_socket)
        if self.checks_addresses:
            attachment.connection.on_event(self._check_remote_address)
        blocked = self.blocks_proxy_bypass and await self._block_proxy_bypass(attachment, timeout_s)
        try:
            await attachment.fetching.add(
                check, rank=Rank.POLICY, timeout_s=timeout_s, decision_timeout_s=_DECISION_TIMEOUT_S
            )
        except Unsupported:
            return False, blocked
        return True, blocked

    def explain(self, error: NavigationFailed) -> BridgeError:
        """The cause of a failed navigation if the policy or the gate knows it, else the error itself."""
        chain = self._by_first_url.get(error.url)
        if chain is not None and chain.refused is not None:
            return chain.refused
        if error.net_error in _REFUSED:  # the newest chain to this URL may be another tab's
            for earlier in reversed(self._chains.values()):
                if earlier.first_url == error.url and earlier.refused is not None:
                    return earlier.refused
        if error.net_error in _UNSAFE_REDIRECTS:
            return PolicyRefused(
                f"{error.url[:200]} is refused: it redirects to a URL that is neither http nor https",
                url=error.url[:2000],
                rule="redirects",
            )
        if error.net_error.removeprefix("net::ERR_") not in _CONNECTION_ENDED:
            return error
        within_s = _FAILURE_S if chain is None else time.monotonic() - chain.began
        match self._egress.recent_failure(chain.last_url if chain is not None else error.url, within_s=within_s):
            case PolicyRefused() as refused:
                return refused
            case NameNotResolved() as unknown:
                hint = (
                    f"Check the host name. This machine resolves names for the device, and reports: {unknown.message}."
                )
                failed = NavigationFailed(error.url, "net::ERR_NAME_NOT_RESOLVED", hint=hint)
                failed.details.update(unknown.details)  # with the host, which may be that of a redirect
                return failed
            case DeadlineExceeded() | TimeoutError():
                return navigation_failed(error.url, "net::ERR_CONNECTION_TIMED_OUT")
            case ConnectionRefusedError():
                hint = "No server listens there. This machine connects on behalf of the device."
                return NavigationFailed(error.url, "net::ERR_CONNECTION_REFUSED", hint=hint)
            case InvalidResponse() as bad:
                hint = f"The server's response is not valid HTTP: {bad}."
                return NavigationFailed(error.url, "net::ERR_INVALID_HTTP_RESPONSE", hint=hint)
        return error

    async def _check(self, request: PausedRequest, attachment: Attachment) -> RouteAction | None:
        is_top = request.kind == "Document" and request.frame_id == attachment.state.main_frame_id
        chain = self._follow(request, is_top)
        try:
            if chain.redirects > MAX_REDIRECTS:
                raise PolicyRefused(
                    f"{chain.first_url[:200]} is refused: more than {MAX_REDIRECTS} redirects",
                    url=chain.first_url[:2000],
                    rule="redirects",
                )
            decision = await self._egress.check_request(request.url, use="navigation" if is_top else "request")
            self._check_host(decision)
            if is_top:
                await self._check_addresses(decision)
        except PolicyRefused as error:
            chain.refused = error
            self._note_denial(error, request.url, request.kind, attachment)
            if is_top:
                attachment.refuse_navigation(error)
            # An aborted navigation leaves the document as it was; any other error would show the browser's error page.
            return Abort("Aborted" if request.kind == "Document" else "BlockedByClient")
        return None

    async def _check_addresses(self, decision: Decision) -> None:
        """Check where a host is before a navigation leaves the document. The gate resolves each host once, too."""
        if self.checks_addresses or decision.host is None or decision.port is None:
            return
        with suppress(NameNotResolved, DeadlineExceeded):
            await self._egress.addresses(decision.host, decision.port, timeout_s=_RESOLVE_S)

    def _check_socket(self, url: str, attachment: Attachment) -> None:
        """Report a WebSocket that the gate will refuse; `Fetch` does not show them."""
        decision = decide(self._egress.policy, url, self._egress.grants, use="request")
        if not decision.allowed and not self._egress.was_approved(decision):
            self._note_denial(policy_refused(decision, url), url, "WebSocket", attachment)

    def _note_denial(self, error: PolicyRefused, url: str, kind: str, attachment: Attachment) -> None:
        page = attachment.state.main.url if attachment.state.main else ""
        error.details["page"] = page
        self._egress.denials.add(error, url=url, page=page, kind=kind)

    def _follow(self, request: PausedRequest, is_top: bool) -> _RedirectChain:
        key = request.network_id or request.request_id
        chain = self._chains.get(key)
        if chain is None:
            chain = self._chains[key] = _RedirectChain(request.url, request.url)
            if len(self._chains) > _MAX_CHAINS:
                self._chains.popitem(last=False)
        elif request.redirected or request.url != chain.last_url:
            chain.redirects += 1
            chain.last_url = request.url
        if is_top:
            self._by_first_url[chain.first_url] = chain
            if len(self._by_first_url) > _MAX_CHAINS:
                self._by_first_url.popitem(last=False)
        return chain

    def check_shown(self, url: str) -> None:
        """Check the final URL of a document before content of it is returned.

        Raises:
            PolicyRefused: The policy does not allow the document to be open.
        """
        if not url or url.partition("#")[0].partition("?")[0] in _NO_ADDRESS:
            return
        decision = self._shown_decision(url)
        if not decision.allowed and not self._egress.was_approved(decision):
            raise policy_refused(decision, url, "the page navigated there by itself; its content is not shown")
        self._check_host(decision)

    def _shown_decision(self, url: str) -> Decision:
        """The decision about a document's URL, made once: every command that returns content asks for it."""
        if (known := self._shown_decisions.get(url)) is not None:
            return known
        decision = decide(self._egress.policy, url, self._egress.grants)
        if len(url) <= _MAX_REMEMBERED_URL_CHARS:
            self._shown_decisions[url] = decision
            if len(self._shown_decisions) > _MAX_SHOWN_DECISIONS:
                self._shown_decisions.popitem(last=False)
        return decision

    def _check_remote_address(self, method: str, params: Mapping[str, Any], _session_id: str | None) -> None:
        """Check the address from which a response came, also of a request that began before the attachment."""
        response = params.get(_RESPONSE_FIELDS.get(method, ""))
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
                return  # another public address: the browser resolves names itself, and reports one address of several
            self._refused_hosts.setdefault(decision.host, error)
            self._egress.record_refusal(decision.host, decision.port, rule)

    def _check_host(self, decision: Decision) -> None:
        """Refuse a host that the browser has seen at a forbidden address."""
        if (refused := self._refused_hosts.get(decision.host or "")) is not None:
            raise refused

    async def _block_proxy_bypass(self, attachment: Attachment, timeout_s: float) -> bool:
        script = packaged_script("bridge.page.interception", "block_proxy_bypass.min.js")
        params = {"source": script, "runImmediately": True}
        try:
            await attachment.call("Page.addScriptToEvaluateOnNewDocument", params, timeout_s=timeout_s)
            # An engine without runImmediately does not run the script in the current document.
            await attachment.call("Runtime.evaluate", {"expression": script}, timeout_s=timeout_s)
            reply = await attachment.call(
                "Runtime.evaluate", {"expression": _BYPASS_IS_OPEN, "returnByValue": True}, timeout_s=timeout_s
            )
        except ProtocolError:
            return False
        return reply.get("result", {}).get("value") is False
