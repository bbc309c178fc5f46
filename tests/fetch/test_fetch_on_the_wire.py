"""What a fetch tells about itself, what it may reach, what the audit and the cache see of it."""

from __future__ import annotations

import asyncio

import pytest
from site_server import MappedEgress, Site

from bridge.errors import PolicyRefused, UsageError
from bridge.policy import TestServerGrant, policy_for
from bridge.policy.pinning import PinnedEgress
from bridge.reading.fetch import FetchCache, webfetch


async def test_the_request_carries_no_identity(
    site: Site, egress: MappedEgress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    site.add("/a", status="302 Found", Location="/b", Set_Cookie="session=1; Path=/")
    site.add("/b", "<p>there</p>")
    await webfetch(site.url("/a").replace("://", "://user:secret@"), egress=egress)
    for head in site.requests:
        fields = {line.split(":")[0].lower() for line in head.split("\r\n")[1:] if line}
        assert fields == {"host", "user-agent", "accept", "accept-language", "accept-encoding", "connection"} - (
            {"connection"} if "onnection:" not in head else set()
        )
        assert "secret" not in head
        assert "Mobile" in head
    assert site.requests[0].startswith("GET /a HTTP/1.1\r\nHost: site.test:")


async def test_the_audit_records_the_bytes_of_each_connection(site: Site, egress: MappedEgress) -> None:
    page = await webfetch(site.add("/", "<p>x</p>"), egress=egress)
    assert egress.records == [("site.test", site.port, "127.0.0.1", page.cost.bytes_sent, page.cost.bytes_received)]


async def test_loopback_needs_a_grant(site: Site) -> None:
    site.add("/", "<p>mine</p>")
    url = f"http://127.0.0.1:{site.port}/"
    with pytest.raises(PolicyRefused):
        await webfetch(url, egress=PinnedEgress(policy_for("operator")))
    granted = PinnedEgress(policy_for("operator"), [TestServerGrant("127.0.0.1", site.port)])
    assert (await webfetch(url, egress=granted)).markdown == "mine"


async def test_a_public_name_that_resolves_to_a_private_address_is_never_dialled(site: Site) -> None:
    async def resolve(host: str) -> tuple[str, ...]:
        return ("127.0.0.1",)

    with pytest.raises(PolicyRefused):
        await webfetch(site.add("/", "x"), egress=PinnedEgress(policy_for("operator"), resolve=resolve))
    assert site.connections == 0


@pytest.mark.parametrize("url", ["about:blank", "file:///etc/passwd", "", "gold", "javascript:1"])
async def test_only_the_web_is_fetched(url: str) -> None:
    with pytest.raises(PolicyRefused):
        await webfetch(url, egress=PinnedEgress(policy_for("operator")))


async def test_a_cache_answers_the_second_time_and_asks_the_policy_all_the_same(
    site: Site, egress: MappedEgress
) -> None:
    url = site.add("/", "<p>once</p>")
    cache = FetchCache(ttl_s=60)
    first = await webfetch(url, egress=egress, cache=cache)
    second = await webfetch(url, egress=egress, cache=cache)
    assert first.markdown == second.markdown == "once"
    assert len(site.requests) == 1
    assert second.cost.round_trips == 0
    with pytest.raises(PolicyRefused):
        await webfetch("file:///etc/passwd", egress=egress, cache=cache)


async def test_a_cache_keeps_neither_what_is_stale_nor_what_must_not_be_stored(
    site: Site, egress: MappedEgress
) -> None:
    url = site.add("/", "<p>x</p>")
    await webfetch(url, egress=egress, cache=(stale := FetchCache(ttl_s=0)))
    await webfetch(url, egress=egress, cache=stale)
    assert len(site.requests) == 2
    private = site.add("/p", "<p>x</p>", Cache_Control="private, max-age=9")
    for _ in range(2):
        await webfetch(private, egress=egress, cache=FetchCache())
    small = FetchCache(max_bytes=4)
    for _ in range(2):
        await webfetch(url, egress=egress, cache=small)
    assert len(site.requests) == 6


async def test_a_fetch_that_is_cancelled_leaves_no_connection(site: Site, egress: MappedEgress) -> None:
    began = asyncio.Event()

    async def stall(writer: asyncio.StreamWriter) -> None:
        began.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(webfetch(site.does("/", stall), egress=egress))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(egress.records) == 1


@pytest.mark.parametrize(
    "options",
    [{"pages": 0}, {"pages": 1000}, {"timeout_s": 0}, {"timeout_s": float("nan")}, {"mode": "x"}, {"selector": "p["}],
)
async def test_arguments_without_sense_are_refused_before_anything_is_dialled(
    egress: MappedEgress, options: dict[str, object]
) -> None:
    with pytest.raises(UsageError):
        await webfetch("http://site.test/", egress=egress, **options)  # type: ignore[arg-type]
    assert egress.dialled == []


async def test_the_user_agent_can_be_chosen_and_no_header_smuggled_in_it(site: Site, egress: MappedEgress) -> None:
    url = site.add("/", "<p>x</p>")
    await webfetch(url, egress=egress, user_agent="Reader/1.0 (tests)")
    assert "User-Agent: Reader/1.0 (tests)\r\n" in site.requests[-1]
    for wrong in ("", " ", "a\r\nCookie: x", "ü", "x" * 1_001):
        with pytest.raises(UsageError, match="user_agent"):
            await webfetch(url, egress=egress, user_agent=wrong)
