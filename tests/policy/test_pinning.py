"""Names are resolved once. Scripted name servers; real servers on loopback behind public addresses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bridge.errors import NameNotResolved, PolicyRefused
from bridge.policy import BrowserPolicy, Decision, TestServerGrant, decide, pinning
from bridge.policy.address import parse_destination
from bridge.policy.dialling import StreamPair
from bridge.policy.pinning import PinnedEgress

FIRST, SECOND, PRIVATE, V6 = "93.184.216.34", "93.184.216.35", "10.0.0.7", "2606:4700:4700::1111"
PUBLIC = BrowserPolicy(default_action="allow")


class Names:
    """A name server that gives its answers one after the other, and the last one for ever."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.asked = 0
        self._answers = answers

    async def resolve(self, host: str) -> tuple[str, ...]:
        answer = self._answers[min(self.asked, len(self._answers) - 1)]
        self.asked += 1
        if not answer:
            raise NameNotResolved(f"{host} has no address", host=host)
        return answer


class Wire:
    """Which public addresses are alive; all of them lead to one loopback server. Notes what is dialled."""

    def __init__(self, port: int, *alive: str) -> None:
        self.dialled: list[str] = []
        self.alive = set(alive)
        self._port = port

    async def connect(self, address: str, port: int) -> StreamPair:
        self.dialled.append(address)
        if address not in self.alive:
            raise ConnectionRefusedError(f"{address} refuses")
        return await asyncio.open_connection("127.0.0.1", self._port)


@pytest.fixture
async def server() -> AsyncIterator[int]:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


@asynccontextmanager
async def opened(egress: PinnedEgress, host: str = "site.example") -> AsyncIterator[str]:
    address, (_, writer) = await egress.open(host, 443, timeout_s=20)
    try:
        yield address
    finally:
        writer.close()


async def test_a_pinned_name_is_not_resolved_again(server: int) -> None:
    names, wire = Names((FIRST,), (PRIVATE,)), Wire(server, FIRST, PRIVATE)
    egress = PinnedEgress(PUBLIC, resolve=names.resolve, connect=wire.connect)

    for _ in range(3):
        async with opened(egress) as address:
            assert address == FIRST
    assert names.asked == 1
    assert wire.dialled == [FIRST] * 3


async def test_a_new_answer_is_refused_when_the_pinned_address_dies(server: int) -> None:
    names, wire = Names((FIRST,), (PRIVATE,)), Wire(server, FIRST, PRIVATE)
    egress = PinnedEgress(PUBLIC, resolve=names.resolve, connect=wire.connect)
    async with opened(egress):
        wire.alive.discard(FIRST)

    with pytest.raises(PolicyRefused, match=f"resolved to {PRIVATE}, first-seen resolve was {FIRST}"):
        await egress.open("site.example", 443, timeout_s=20)
    assert PRIVATE not in wire.dialled


async def test_a_new_public_answer_outside_the_pin_is_refused(server: int) -> None:
    names, wire = Names((FIRST,), (SECOND,)), Wire(server, FIRST, SECOND)
    egress = PinnedEgress(PUBLIC, resolve=names.resolve, connect=wire.connect)
    async with opened(egress):
        wire.alive.discard(FIRST)

    words = f"DNS rebinding refused: site.example resolved to {SECOND}, first-seen resolve was {FIRST}"
    with pytest.raises(PolicyRefused) as caught:
        await egress.open("site.example", 443, timeout_s=20)
    assert caught.value.message == words
    assert SECOND not in wire.dialled


async def test_repin_public_accepts_only_public_answers(server: int) -> None:
    policy = BrowserPolicy(default_action="allow", repin="public")
    names, wire = Names((FIRST,), (SECOND,), (PRIVATE,)), Wire(server, FIRST, SECOND, PRIVATE)
    egress = PinnedEgress(policy, resolve=names.resolve, connect=wire.connect)
    async with opened(egress):
        wire.alive.discard(FIRST)

    async with opened(egress) as address:
        assert address == SECOND
    wire.alive.discard(SECOND)
    with pytest.raises(PolicyRefused, match=PRIVATE):
        await egress.open("site.example", 443, timeout_s=20)
    assert PRIVATE not in wire.dialled


@pytest.mark.parametrize("answer", [(PRIVATE,), (FIRST, PRIVATE), (V6, "::1"), ("fd00::1",), ("::ffff:10.0.0.1",)])
async def test_a_private_or_mixed_first_answer_is_refused(server: int, answer: tuple[str, ...]) -> None:
    wire = Wire(server, *answer)
    egress = PinnedEgress(PUBLIC, resolve=Names(answer).resolve, connect=wire.connect)

    with pytest.raises(PolicyRefused):
        await egress.open("site.example", 443, timeout_s=20)
    assert wire.dialled == []
    assert egress.pins == {}


async def test_a_dead_address_is_skipped_for_the_next_pinned_one(server: int) -> None:
    wire = Wire(server, SECOND)
    egress = PinnedEgress(PUBLIC, resolve=Names((V6, FIRST, SECOND)).resolve, connect=wire.connect)

    async with opened(egress) as address:
        assert address == SECOND


async def test_concurrent_lookups_ask_the_name_server_once(server: int) -> None:
    names, wire = Names((FIRST,), (PRIVATE,)), Wire(server, FIRST)
    egress = PinnedEgress(PUBLIC, resolve=names.resolve, connect=wire.connect)

    answers = await asyncio.gather(*(egress.addresses("site.example", 443, timeout_s=20) for _ in range(50)))

    assert set(answers) == {(FIRST,)}
    assert names.asked == 1


@pytest.mark.parametrize("public", [70, 2_000])
async def test_one_forbidden_address_refuses_the_name(public: int) -> None:
    answer = tuple(f"93.184.{index // 250}.{index % 250 + 1}" for index in range(public))
    egress = PinnedEgress(PUBLIC, resolve=Names((*answer, "127.0.0.1")).resolve)

    with pytest.raises(PolicyRefused):
        await egress.addresses("many.example", 443, timeout_s=20)


async def test_endless_host_names_evict_pins_of_their_own_site_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pinning, "_MAX_PINS", 50)
    egress = PinnedEgress(PUBLIC, resolve=Names((FIRST,)).resolve)
    await egress.addresses("bank.example", 443, timeout_s=20)
    for index in range(200):
        await egress.addresses(f"h{index}.flood.example", 443, timeout_s=20)

    assert await egress.addresses("shop.example", 443, timeout_s=20) == (FIRST,)
    assert len(egress.pins) == 50
    assert "bank.example" in egress.pins


async def test_addresses_that_the_browser_reports_are_checked_against_the_pin() -> None:
    egress = PinnedEgress(PUBLIC)
    egress.check_resolved_host("site.example", FIRST)

    egress.check_resolved_host("site.example", FIRST)
    with pytest.raises(PolicyRefused, match="first-seen resolve was"):
        egress.check_resolved_host("site.example", SECOND)
    with pytest.raises(PolicyRefused, match="a private address"):
        egress.check_resolved_host("other.example", PRIVATE)
    with pytest.raises(PolicyRefused, match="not an IP address"):
        egress.check_resolved_host("other.example", "not an address")


async def test_a_person_is_asked_once_per_host_and_no_answer_refuses() -> None:
    asked: list[str | None] = []

    async def ask(decision: Decision) -> bool:
        asked.append(decision.host)
        return decision.host == "yes.example"

    policy = BrowserPolicy(default_action="ask")
    egress = PinnedEgress(policy, ask=ask)
    assert await egress.check_url("HTTPS://yes.example/a b") == "https://yes.example/a%20b"
    assert await egress.check_url("https://yes.example/other") == "https://yes.example/other"
    for _ in range(2):
        with pytest.raises(PolicyRefused, match="the person asked refused"):
            await egress.check_url("https://no.example/")
    with pytest.raises(PolicyRefused, match="private"):
        await egress.check_url("http://10.0.0.1/")
    with pytest.raises(PolicyRefused, match="no confirmation was received"):
        await PinnedEgress(policy).check_url("https://yes.example/")

    assert asked == ["yes.example", "no.example"]


async def test_a_granted_loopback_name_is_not_resolved() -> None:
    egress = PinnedEgress(PUBLIC, [TestServerGrant("app.localhost", 3000)], resolve=Names(()).resolve)

    assert await egress.addresses("app.localhost", 3000, timeout_s=20) == ("127.0.0.1", "::1")
    with pytest.raises(PolicyRefused):
        await egress.addresses("app.localhost", 3001, timeout_s=20)


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        (BrowserPolicy(allowed_origins=["site.example"]), True),
        (BrowserPolicy(allowed_origins=["https://site.example:8443"]), True),
        (BrowserPolicy(allowed_origins=["http://site.example:8443"]), True),
        (BrowserPolicy(allowed_origins=["site.example:443"]), False),
        (BrowserPolicy(default_action="allow", denied_origins=["https://site.example"]), False),
        (BrowserPolicy(default_action="allow", denied_origins=["http://site.example"]), False),
    ],
    ids=lambda value: str(value.to_json()) if isinstance(value, BrowserPolicy) else str(value),
)
async def test_a_tunnel_is_refused_if_any_scheme_in_it_is_denied(policy: BrowserPolicy, allowed: bool) -> None:
    if allowed:
        await PinnedEgress(policy).check_tunnel(parse_destination("http", "site.example", 8443))
    else:
        with pytest.raises(PolicyRefused):
            await PinnedEgress(policy).check_tunnel(parse_destination("http", "site.example", 8443))


async def test_a_connection_opens_only_with_a_decision_that_permits_it() -> None:
    egress = PinnedEgress(BrowserPolicy(default_action="allow", denied_origins=("denied.example",)), connect=_never)
    denied = decide(egress.policy, "http://denied.example/")
    asked = Decision("ask", "default_action", host="asked.example", port=443)
    for decision in (denied, asked, Decision("allow", "scheme:blob")):
        with pytest.raises(PolicyRefused):
            await egress.open_permitted(decision, timeout_s=5)


async def _never(_address: str, _port: int) -> StreamPair:
    raise AssertionError("connected without permission")
