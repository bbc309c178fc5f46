"""The resolver that asks once: a host name is bound to its first answer for as long as its policy object lives.

Trust on first use. A name server that answers with a public address first and with a private one later (DNS rebinding)
is never asked a second time while a first address still connects, and a later answer is not taken.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from bridge.deadline import Deadline
from bridge.errors import NameNotResolved, PolicyRefused
from bridge.policy.address import ip_literal, parse_address
from bridge.policy.browser_policy import BrowserPolicy
from bridge.policy.decision import Decision, Use, decide, decide_destination
from bridge.policy.dialling import Connect, Resolve, StreamPair, first_connection, system_connect, system_resolve
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.ranges import forbidden_range
from bridge.policy.traffic import Traffic

#: Whether somebody lets it through; None where nobody was there to ask, which is no answer to keep.
Ask = Callable[[Decision], Awaitable[bool | None]]

MAX_RECORDS = 10_000
_MAX_PINS = 10_000
_MAX_FAILURES = 1000
# All of them are judged: one that is forbidden refuses the name. No site has as many.
_MAX_ADDRESSES = 256
_MAX_ANSWERS = 1_000
# Whoever made an address, a page or a server, may not write a sentence with it.
_PRINTABLE = "!#$%&'()*+,/:;=?@[]"


@dataclass(frozen=True, slots=True)
class ConnectionRecord:
    """One line of the audit.

    Attributes:
        address: What was connected to, "" where nothing was.
        decision: `allow` or `deny`, with the rule: `deny name:metadata`.
        unix_s: When it was noted.
    """

    host: str
    port: int
    address: str
    decision: str
    bytes_sent: int
    bytes_received: int
    unix_s: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class PinnedEgress:
    """Implements `Egress`: everything that goes out under one policy goes through one of these.

    Attributes:
        policy, grants: What it holds connections to.
        audit: The last connections and refusals, oldest first.
        traffic: What is on its way; whoever carries bytes over a connection of its counts them there.
    """

    def __init__(
        self,
        policy: BrowserPolicy,
        grants: Iterable[Grant] = (),
        *,
        ask: Ask | None = None,
        resolve: Resolve = system_resolve,
        connect: Connect = system_connect,
        on_record: Callable[[ConnectionRecord], None] | None = None,
    ) -> None:
        self.policy = policy
        self.grants = tuple(grants)
        self.audit: deque[ConnectionRecord] = deque(maxlen=MAX_RECORDS)
        self.traffic = Traffic()
        self._ask = ask
        self._resolve = resolve
        self._connect = connect
        self._on_record = on_record
        self._pins: dict[str, tuple[str, ...]] = {}
        self._failures: OrderedDict[tuple[str, int], tuple[Exception, float]] = OrderedDict()
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        self._answers: dict[tuple[str | None, int | None], asyncio.Future[bool | None]] = {}

    @property
    def pins(self) -> dict[str, tuple[str, ...]]:
        """Which addresses each host is bound to."""
        return dict(self._pins)

    async def check_url(self, url: str) -> str:
        """See Egress.check_url."""
        return await self._permitted_url(decide(self.policy, url, self.grants), url)

    async def check_request(self, url: str, *, use: Use = "request") -> None:
        """Refuse what a page may not request, or not navigate to."""
        await self._permitted_url(decide(self.policy, url, self.grants, use=use), url)

    def was_approved(self, decision: Decision) -> bool:
        """Whether somebody has been asked about this host and port, and has said yes."""
        answer = self._answers.get((decision.host, decision.port))
        return decision.action == "ask" and answer is not None and answer.done() and answer.result() is True

    @property
    def test_servers(self) -> tuple[TestServerGrant, ...]:
        """The grants of this machine's own ports."""
        return tuple(grant for grant in self.grants if isinstance(grant, TestServerGrant))

    def record_failure(self, host: str, port: int, error: Exception) -> None:
        """Remember why a host could not be reached, for whoever is told no more than that it could not."""
        self._failures[(host, port)] = (error, time.monotonic())
        while len(self._failures) > _MAX_FAILURES:
            self._failures.popitem(last=False)

    def recent_failure(self, url: str, *, within_s: float) -> Exception | None:
        """Why the host of this URL could not be reached a moment ago."""
        address = parse_address(url)
        found = self._failures.get((address.host or "", address.port or 0))
        return found[0] if found is not None and time.monotonic() - found[1] < within_s else None

    async def check_destination(self, scheme: str, host: str, port: int) -> None:
        """Refuse a host and port as `check_url` would refuse their URL."""
        await self._permitted(decide_destination(self.policy, scheme, host, port, self.grants), f"{host}:{port}")

    async def check_tunnel(self, host: str, port: int) -> None:
        """Refuse a tunnel: in it may be https, or a WebSocket of either kind, and nobody can see which.

        One that is denied for any of them is denied; at the port of https it is taken for https.
        """
        judged = [decide_destination(self.policy, scheme, host, port, self.grants) for scheme in ("https", "http")]
        if port == 443:
            judged = judged[:1]
        verdict = next((found for found in judged if found.rule == "denied_origins"), None) or _best(judged)
        await self._permitted(verdict, f"{host}:{port}")

    async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
        """See Egress.addresses. The host is canonical, as `check_url` gives it."""
        judged = [decide_destination(self.policy, scheme, host, port, self.grants) for scheme in ("https", "http")]
        await self._permitted(_best(judged), f"{host}:{port}")
        return await self._pinned(host, port, Deadline.after(timeout_s))

    def check_resolved_host(self, host: str, address: str) -> None:
        """Refuse an address at which a host was seen: forbidden, or not one that the host is bound to.

        The first address that is seen of a host binds it.

        Raises:
            PolicyRefused: With both addresses where the host has moved.
        """
        self._judge_address(host, address)
        pinned = self._pins.get(host)
        if pinned is None:
            self._pin(host, (address,))
        elif address not in pinned and self.policy.repin != "public":
            raise _rebinding(host, (address,), pinned)

    async def open(self, host: str, port: int, *, timeout_s: float) -> tuple[str, StreamPair]:
        """See Egress.open."""
        deadline = Deadline.after(timeout_s)
        known = host in self._pins
        pinned = await self.addresses(host, port, timeout_s=timeout_s)
        # Where the name can be asked again, half of the time is kept for that.
        first = Deadline.after(deadline.remaining_s / 2) if known else deadline
        try:
            return await first_connection(self._connect, pinned, port, first)
        except OSError:
            if not known or ip_literal(host) is not None or self._granted(host, port):
                raise
        fresh = await self._repinned(host, pinned, deadline)
        return await first_connection(self._connect, fresh, port, deadline)

    def record(self, host: str, port: int, address: str, *, bytes_sent: int, bytes_received: int) -> None:
        """See Egress.record."""
        self._note(ConnectionRecord(host, port, address, "allow", bytes_sent, bytes_received, time.time()))

    def record_refusal(self, host: str, port: int, rule: str) -> None:
        """Note that nothing was connected, and by which rule."""
        self._note(ConnectionRecord(host, port, "", f"deny {rule}", 0, 0, time.time()))

    def _note(self, record: ConnectionRecord) -> None:
        self.audit.append(record)
        if self._on_record is not None:
            self._on_record(record)

    async def _permitted_url(self, decision: Decision, url: str) -> str:
        """What is refused here never comes to the gate, which would have noted it."""
        try:
            return await self._permitted(decision, url)
        except PolicyRefused as error:
            self.record_refusal(decision.host or "", decision.port or 0, str(error.details.get("rule", "policy")))
            raise

    async def _permitted(self, decision: Decision, shown: str) -> str:
        answer = await self._ask_once(decision) if decision.action == "ask" else None
        if not answer and not decision.allowed:
            raise policy_refused(decision, shown, was_asked=answer is not None)
        return decision.url

    async def _ask_once(self, decision: Decision) -> bool | None:
        """The answer for this host and port, asked for once and not once per request; None where nobody was there."""
        if self._ask is None:
            return None
        key = (decision.host, decision.port)
        asked = self._answers.get(key)
        if asked is None:
            if len(self._answers) >= _MAX_ANSWERS:
                del self._answers[next(iter(self._answers))]
            asked = self._answers[key] = asyncio.ensure_future(self._ask(decision))
        try:
            answer = await asyncio.shield(asked)
            if answer is None and self._answers.get(key) is asked:
                del self._answers[key]
            return answer
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._answers.pop(key, None)
            raise policy_refused(decision, decision.url, f"asking failed: {error}") from error

    async def _pinned(self, host: str, port: int, deadline: Deadline) -> tuple[str, ...]:
        if ip_literal(host) is not None:
            return (host,)
        if self._granted(host, port):
            return ("127.0.0.1", "::1")  # RFC 6761 §6.3: localhost is never asked of a name server
        async with self._locks.setdefault(host, asyncio.Lock()):
            pinned = self._pins.get(host)
            if pinned is None:
                pinned = await self._ask_name_server(host, deadline)
                for address in pinned:
                    self._judge_address(host, address)
                self._pin(host, pinned)
            return pinned

    async def _repinned(self, host: str, pinned: tuple[str, ...], deadline: Deadline) -> tuple[str, ...]:
        async with self._locks.setdefault(host, asyncio.Lock()):
            now = self._pins.get(host, pinned)
            if now != pinned:
                return now  # somebody else's turn has found the new ones
            answer = await self._ask_name_server(host, deadline)
            strange = tuple(address for address in answer if address not in pinned)
            if strange and self.policy.repin == "refuse":
                raise _rebinding(host, strange, pinned)
            for address in answer:
                self._judge_address(host, address)
            if strange:
                self._pin(host, answer)
            return answer

    async def _ask_name_server(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        async with deadline.bound(f"resolving {host}"):
            found = await self._resolve(host)
        if not found:
            raise NameNotResolved(f"{host} has no address", host=host)
        if len(found) > _MAX_ADDRESSES:
            raise PolicyRefused(f"{host} is refused: it has more than {_MAX_ADDRESSES} addresses", host=host)
        return found

    def _judge_address(self, host: str, address: str) -> None:
        if any(isinstance(grant, TestServerGrant) and grant.host == host for grant in self.grants):
            return
        try:
            found = forbidden_range(address)
        except ValueError as error:
            raise PolicyRefused(f"{host} resolved to {address[:80]!r}, which is no address", host=host) from error
        if found is not None:
            raise PolicyRefused(
                f"{host} is refused: it resolved to {address}, {found.what}",
                host=host,
                address=address,
                rule=f"range:{found.code}",
            )

    def _granted(self, host: str, port: int) -> bool:
        return any(grant.permits("http", host, port, "") for grant in self.grants)

    def _pin(self, host: str, addresses: tuple[str, ...]) -> None:
        if host not in self._pins and len(self._pins) >= _MAX_PINS:
            # A page that names hosts without end loses pins of its own, and no other site's.
            counts = Counter(map(_family, self._pins))
            crowd = max(counts, key=counts.__getitem__)
            del self._pins[next(known for known in self._pins if _family(known) == crowd)]
        self._pins[host] = addresses


def _family(host: str) -> str:
    """The last two labels of a name."""
    return ".".join(host.rsplit(".", 2)[-2:])


def _best(decisions: list[Decision]) -> Decision:
    """The most permissive one: of a scheme that is not known, any may be meant."""
    return min(decisions, key=lambda decision: ("allow", "ask", "deny").index(decision.action))


def policy_refused(decision: Decision, shown: str, more: str = "", *, was_asked: bool = False) -> PolicyRefused:
    """The error for a decision that does not allow."""
    reason = f"{decision.reason}; {more}" if more else decision.reason
    asked = ""
    if decision.action == "ask" and not more:
        asked = ", and who was asked said no" if was_asked else ", and nobody answered when asked"
    return PolicyRefused(
        f"{quote(shown[:200], safe=_PRINTABLE, errors='replace')} is refused: {reason}{asked}",
        hint=decision.hint,
        url=shown[:2000],
        rule=decision.rule,
    )


def _rebinding(host: str, now: tuple[str, ...], first: tuple[str, ...]) -> PolicyRefused:
    return PolicyRefused(
        f"DNS rebinding refused: {host} resolved to {', '.join(now)}, first-seen resolve was {', '.join(first)}",
        hint='If the site has really moved, start again, or set repin = "public" in [browser.policy].',
        host=host,
        rule="rebinding",
    )
