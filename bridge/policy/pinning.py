"""Connects under a policy and pins host names: the first answer of a name server binds the name (trust on first use).

This stops DNS rebinding, where a name server answers with a public address first and a private one later. While one of
the first addresses still connects, the name is not resolved again; if none does, an answer with other addresses is
refused. A pin lasts as long as its `PinnedEgress`.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote

from bridge.deadline import Deadline
from bridge.errors import NameNotResolved, PolicyRefused
from bridge.json_record import JsonRecord
from bridge.policy.address import Address, ip_literal, parse_address
from bridge.policy.browser_policy import BrowserPolicy
from bridge.policy.decision import Decision, Use, decide, decide_address, decide_destination, decide_tunnel
from bridge.policy.denials import DenialLog
from bridge.policy.dialling import Connect, Resolve, StreamPair, first_connection, system_connect, system_resolve
from bridge.policy.grant import Grant, TestServerGrant
from bridge.policy.ranges import forbidden_range
from bridge.policy.traffic import Traffic

#: Asks a person: True or False, or None where there was no person to ask; None is not remembered.
Ask = Callable[[Decision], Awaitable[bool | None]]

MAX_RECORDS = 10_000
_MAX_PINS = 10_000
_MAX_FAILURES = 1000
# Every address of a name is checked, and one forbidden address refuses the name. No site has this many.
_MAX_ADDRESSES = 256
_MAX_ANSWERS = 1_000
# An address comes from a page or a server, which must not be able to write sentences into our messages.
_PRINTABLE = "!#$%&'()*+,/:;=?@[]"


@dataclass(frozen=True, slots=True)
class ConnectionRecord(JsonRecord):
    """A connection that was made or refused.

    Attributes:
        address: The IP address that was connected to; "" for a refusal.
        decision: `allow`, or `deny` with the rule: `deny name:metadata`.
        unix_s: When it was recorded, in seconds of the Unix epoch.
    """

    host: str
    port: int
    address: str
    decision: str
    bytes_sent: int
    bytes_received: int
    unix_s: float


class PinnedEgress:
    """Enforces a policy where connections are made. All connections under one policy go through one instance.

    Attributes:
        policy, grants: What decides about connections.
        audit: The last connections and refusals, oldest first.
        denials: What was refused to pages, with the page that asked.
        traffic: Byte counts of open connections, kept by the code that copies the bytes.
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
        self.denials = DenialLog()
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
        """The addresses to which each host is pinned."""
        return dict(self._pins)

    async def check_url(self, url: str) -> str:
        """The canonical URL, which is the one to open. Asks a person if the policy says `ask`.

        Raises:
            PolicyRefused: A rule forbids it, or there was no person to ask.
        """
        return await self._permitted_url(decide(self.policy, url, self.grants), url)

    async def check_request(self, url: str, *, use: Use = "request") -> Decision:
        """The decision about a URL that a page requests or navigates to.

        Raises:
            PolicyRefused: The policy forbids it.
        """
        decision = decide(self.policy, url, self.grants, use=use)
        await self._permitted_url(decision, url)
        return decision

    def was_approved(self, decision: Decision) -> bool:
        """True if a person was asked about this host and port and allowed it."""
        answer = self._answers.get((decision.host, decision.port))
        return decision.action == "ask" and answer is not None and answer.done() and answer.result() is True

    @property
    def test_servers(self) -> tuple[TestServerGrant, ...]:
        """The grants for ports of this machine."""
        return tuple(grant for grant in self.grants if isinstance(grant, TestServerGrant))

    def record_failure(self, host: str, port: int, error: Exception) -> None:
        """Remember why a host could not be reached. The browser reports only that the connection failed."""
        self._failures[(host, port)] = (error, time.monotonic())
        while len(self._failures) > _MAX_FAILURES:
            self._failures.popitem(last=False)

    def recent_failure(self, url: str, *, within_s: float) -> Exception | None:
        """Why the host of this URL could not be reached within the last `within_s` seconds, if it could not."""
        address = parse_address(url)
        found = self._failures.get((address.host or "", address.port or 0))
        return found[0] if found is not None and time.monotonic() - found[1] < within_s else None

    async def check_destination(self, address: Address) -> Decision:
        """The decision about the destination of a proxied request, for `open_permitted`.

        Raises:
            PolicyRefused: The policy forbids it.
        """
        decision = decide_address(self.policy, address, self.grants, use="request")
        await self._permitted(decision, f"{address.host}:{address.port}")
        return decision

    async def check_tunnel(self, address: Address) -> Decision:
        """The decision about a tunnel, for `open_permitted`; see `decide_tunnel`.

        Raises:
            PolicyRefused: The policy forbids it.
        """
        decision = decide_tunnel(self.policy, address, self.grants)
        await self._permitted(decision, f"{address.host}:{address.port}")
        return decision

    async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
        """The IP addresses of a host, checked and pinned: later calls return the same ones. In the order to try them.

        Raises:
            PolicyRefused: The host, the port or one of its addresses is forbidden.
            NameNotResolved: The name has no address.
            DeadlineExceeded: The name was not resolved in time.
        """
        decision = decide_destination(self.policy, host, port, self.grants)
        await self._permitted(decision, f"{host}:{port}")
        return await self._pinned(host, port, Deadline.after(timeout_s))

    def check_resolved_host(self, host: str, address: str) -> None:
        """Check an address at which the browser has seen a host. The first address that is seen of a host pins it.

        Raises:
            PolicyRefused: The address is forbidden, or the host is pinned to others.
        """
        self._check_ip_address(host, address)
        pinned = self._pins.get(host)
        if pinned is None:
            self._pin(host, (address,))
        elif address not in pinned and self.policy.repin != "public":
            raise _rebinding(host, (address,), pinned)

    async def open(self, host: str, port: int, *, timeout_s: float) -> tuple[str, StreamPair]:
        """A connection to one of `addresses`, with that address.

        If none of them connects, the name is resolved once more; an answer outside the pin is refused.

        Raises:
            PolicyRefused, NameNotResolved, DeadlineExceeded: As `addresses`.
            OSError: No connection could be made.
        """
        deadline = Deadline.after(timeout_s)
        decision = decide_destination(self.policy, host, port, self.grants)
        await self._permitted(decision, f"{host}:{port}")
        return await self._open(host, port, deadline)

    async def open_permitted(self, decision: Decision, *, timeout_s: float) -> tuple[str, StreamPair]:
        """`open` for the host and port of a decision that `check_destination` or `check_tunnel` has returned."""
        if decision.host is None or decision.port is None or not (decision.allowed or self.was_approved(decision)):
            raise policy_refused(decision, f"{decision.host}:{decision.port}")
        return await self._open(decision.host, decision.port, Deadline.after(timeout_s))

    async def _open(self, host: str, port: int, deadline: Deadline) -> tuple[str, StreamPair]:
        known = host in self._pins
        pinned = await self._pinned(host, port, deadline)
        # If the name can be resolved again, half of the time is kept for that.
        first = Deadline.after(deadline.remaining_s / 2) if known else deadline
        try:
            return await first_connection(self._connect, pinned, port, first)
        except OSError:
            if not known or ip_literal(host) is not None or self._granted(host, port):
                raise
        fresh = await self._repinned(host, pinned, deadline)
        return await first_connection(self._connect, fresh, port, deadline)

    def record(self, host: str, port: int, address: str, *, bytes_sent: int, bytes_received: int) -> None:
        """Record a connection that has ended."""
        self._note(ConnectionRecord(host, port, address, "allow", bytes_sent, bytes_received, time.time()))

    def record_refusal(self, host: str, port: int, rule: str) -> None:
        """Record that a connection was refused, and by which rule."""
        self._note(ConnectionRecord(host, port, "", f"deny {rule}", 0, 0, time.time()))

    def _note(self, record: ConnectionRecord) -> None:
        self.audit.append(record)
        if self._on_record is not None:
            self._on_record(record)

    async def _permitted_url(self, decision: Decision, url: str) -> str:
        """`_permitted`, with a record of a refusal: the gate, which records its own, never sees a URL refused here."""
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
        """The person's answer about this host and port. A person is asked once, not once per request."""
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
            raise policy_refused(decision, decision.url, f"asking a person failed: {error}") from error

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
                    self._check_ip_address(host, address)
                self._pin(host, pinned)
            return pinned

    async def _repinned(self, host: str, pinned: tuple[str, ...], deadline: Deadline) -> tuple[str, ...]:
        async with self._locks.setdefault(host, asyncio.Lock()):
            now = self._pins.get(host, pinned)
            if now != pinned:
                return now  # another task has found the new ones
            answer = await self._ask_name_server(host, deadline)
            strange = tuple(address for address in answer if address not in pinned)
            if strange and self.policy.repin == "refuse":
                raise _rebinding(host, strange, pinned)
            for address in answer:
                self._check_ip_address(host, address)
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

    def _check_ip_address(self, host: str, address: str) -> None:
        if any(isinstance(grant, TestServerGrant) and grant.host == host for grant in self.grants):
            return
        try:
            found = forbidden_range(address)
        except ValueError as error:
            raise PolicyRefused(
                f"{host} is refused: it resolves to {address[:80]!r}, which is not an IP address", host=host
            ) from error
        if found is not None:
            raise PolicyRefused(
                f"{host} is refused: it resolves to {address} ({found.what})",
                host=host,
                address=address,
                rule=f"range:{found.code}",
            )

    def _granted(self, host: str, port: int) -> bool:
        return any(
            isinstance(grant, TestServerGrant) and (grant.host, grant.port) == (host, port) for grant in self.grants
        )

    def _pin(self, host: str, addresses: tuple[str, ...]) -> None:
        if host not in self._pins and len(self._pins) >= _MAX_PINS:
            # A page that names endless hosts loses pins of its own site, not of others.
            counts = Counter(map(_site, self._pins))
            largest = max(counts, key=counts.__getitem__)
            del self._pins[next(known for known in self._pins if _site(known) == largest)]
        self._pins[host] = addresses


def _site(host: str) -> str:
    """The last two labels of a name."""
    return ".".join(host.rsplit(".", 2)[-2:])


def policy_refused(decision: Decision, shown: str, more: str = "", *, was_asked: bool = False) -> PolicyRefused:
    """The error for a decision that does not allow."""
    reason = f"{decision.reason}; {more}" if more else decision.reason
    asked = ""
    if decision.action == "ask" and not more:
        asked = ", and the person asked refused" if was_asked else ", and no confirmation was received"
    return PolicyRefused(
        f"{quote(shown[:200], safe=_PRINTABLE, errors='replace')} is refused: {reason}{asked}",
        hint=decision.hint,
        url=shown[:2000],
        rule=decision.rule,
    )


def _rebinding(host: str, now: tuple[str, ...], first: tuple[str, ...]) -> PolicyRefused:
    return PolicyRefused(
        f"DNS rebinding refused: {host} resolved to {', '.join(now)}, first-seen resolve was {', '.join(first)}",
        hint='If the site has moved, start a new session, or set repin = "public" in [browser.policy].',
        host=host,
        rule="rebinding",
    )
