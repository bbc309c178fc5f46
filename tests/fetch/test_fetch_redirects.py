"""Redirects, and that each address is judged before anything is dialled."""

from __future__ import annotations

import pytest
from site_server import MappedEgress, Site, failure

from bridge.errors import (
    NetworkFailed,
    PolicyRefused,
    TooManyRedirects,
)
from bridge.reading.fetch import webfetch


async def test_a_circle_of_redirects_is_called_one(site: Site, egress: MappedEgress) -> None:
    site.add("/a", status="302 Found", Location="/b")
    site.add("/b", status="302 Found", Location=site.url("/a"))
    error = await failure(site.url("/a"), egress)
    assert isinstance(error, TooManyRedirects)
    assert "in a loop, back to" in error.message
    assert len(site.requests) == 2


async def test_five_redirects_are_followed_and_the_sixth_is_not(site: Site, egress: MappedEgress) -> None:
    for step in range(7):
        site.add(f"/{step}", status="301 Moved Permanently", Location=f"{step + 1}")
    error = await failure(site.url("/0"), egress)
    assert isinstance(error, TooManyRedirects)
    assert "more than 5 times" in error.message
    assert len(site.requests) == 6
    site.add("/5", "<p>there</p>")
    page = await webfetch(site.url("/0"), egress=egress)
    assert page.markdown == "there"
    assert page.url == site.url("/5")
    assert page.redirects == tuple(site.url(f"/{step}") for step in range(5))


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,hi",
        "ftp://site.test/",
        "http://127.0.0.1:1/",
        "http://[::1]/",
        "//localhost/x",
        "http://0x7f.1/",
        "http://[",
    ],
)
async def test_a_redirect_is_judged_before_anything_is_dialled(site: Site, egress: MappedEgress, target: str) -> None:
    url = site.add("/", status="302 Found", Location=target)
    error = await failure(url, egress)
    assert isinstance(error, PolicyRefused | NetworkFailed)
    assert f"{url} redirects to" in error.message
    assert egress.dialled == [f"site.test:{site.port}"]


async def test_a_refused_address_ends_the_fetch_before_it_is_dialled() -> None:
    class Refusing(MappedEgress):
        async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
            raise PolicyRefused(f"{host} resolves to 10.0.0.1, which is a private network.")

    assert isinstance(await failure("http://intranet.example/", Refusing()), PolicyRefused)
