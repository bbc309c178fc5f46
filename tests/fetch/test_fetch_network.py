"""What goes wrong below HTTP, and in its framing: names, addresses, connections, TLS."""

from __future__ import annotations

import asyncio
import gzip
import socket

import pytest
from site_server import HEAD, Authority, MappedEgress, Site, failure, serve

from bridge.errors import (
    NameNotResolved,
    NetworkFailed,
    TlsFailed,
)
from bridge.reading.fetch import webfetch


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "the connection closed after 3 of 100 bytes of the body"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nabc", "closed in the middle of the body"),
        (HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", "the server sent invalid HTTP"),
        (HEAD + b"Content-Length: -5\r\n\r\nabcdef", "the server sent invalid HTTP"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "the server sent invalid HTTP"),
        (HEAD + b"X-Long: " + b"x" * 200_000 + b"\r\n\r\n", "headers are longer than 100 kB"),
        (HEAD + b"X: y\r\n" * 40_000 + b"\r\n", "headers are longer than 100 kB"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "the server sent invalid HTTP"),
        (b"", "the server closed the connection before the response was complete"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the server closed the connection before the response was complete"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\nplain words", "not valid gzip"),
        (HEAD + b"Content-Encoding: br\r\n\r\n\xff\xff\xff plain", "not valid br"),
        (
            HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>text</p>" * 99, mtime=0)[:-20],
            "before it is complete",
        ),
        (HEAD + b"Content-Encoding: zstd\r\n\r\nx", "'zstd', which was not requested"),
        (HEAD + b"Content-Encoding: gzip, gzip, gzip, gzip\r\n\r\nx", "4 content encodings"),
    ],
)
async def test_broken_http_is_reported_as_such(site: Site, egress: MappedEgress, sent: bytes, words: str) -> None:
    error = await failure(site.does("/", sent), egress)
    assert isinstance(error, NetworkFailed), error
    assert error.message.startswith("Network error: ")
    assert words in error.message


async def test_a_connection_that_is_reset_is_a_network_error(site: Site, egress: MappedEgress) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: 100\r\n\r\nabc")
        await writer.drain()
        writer.transport.abort()

    error = await failure(site.does("/", reset), egress)
    assert isinstance(error, NetworkFailed)
    assert "the body" in error.message or "before the response was complete" in error.message


async def test_a_half_closed_connection_still_delivers_what_it_sent(site: Site, egress: MappedEgress) -> None:
    async def half_close(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n<p>All of it</p>")
        writer.write_eof()
        await asyncio.Event().wait()

    page = await webfetch(site.does("/", half_close), egress=egress, timeout_s=20)
    assert page.markdown == "All of it"


async def test_a_refused_connection_names_the_address_and_the_reason(egress: MappedEgress) -> None:
    async with serve() as site:
        url = site.url()
    error = await failure(url, egress)
    assert isinstance(error, NetworkFailed)
    assert "127.0.0.1: " in error.message


async def test_a_second_address_is_tried_when_the_first_refuses(site: Site) -> None:
    egress = MappedEgress({"site.test": ("127.9.9.9", "127.0.0.1")})
    page = await webfetch(site.add("/", "<p>second</p>"), egress=egress)
    assert page.markdown == "second"
    assert [record[2] for record in egress.records] == ["127.0.0.1"]


async def test_an_address_that_never_answers_does_not_hold_up_the_next(site: Site) -> None:
    # A listener whose queue is full takes no further connection.
    with socket.create_server(("127.9.9.8", site.port), backlog=0) as full:
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        try:
            page = await webfetch(
                site.add("/", "<p>second</p>"),
                egress=MappedEgress({"site.test": ("127.9.9.8", "127.0.0.1")}),
                timeout_s=10,
            )
        finally:
            for filler in fillers:
                filler.close()
    assert page.markdown == "second"


async def test_a_name_without_an_address_says_so(egress: MappedEgress) -> None:
    error = await failure("http://nowhere.test/", egress)
    assert isinstance(error, NameNotResolved)
    assert error.message == "DNS resolution failed: nowhere.test has no address."


@pytest.mark.parametrize(
    ("made_for", "made", "words"),
    [
        ("other.test", {}, "Hostname mismatch"),
        ("site.test", {"self_signed": True}, "self-signed certificate"),
        ("site.test", None, "unable to get local issuer certificate"),
    ],
)
async def test_a_certificate_that_does_not_hold_is_a_tls_error(
    authority: Authority, egress: MappedEgress, made_for: str, made: dict[str, bool] | None, words: str
) -> None:
    async with serve(authority.server(made_for, **(made or {}))) as site:
        error = await failure(
            site.add("/", "<p>secret"), egress, **({"tls": authority.trust()} if made is not None else {})
        )
        assert isinstance(error, TlsFailed)
        assert error.message.startswith("TLS error: ")
        assert words in error.message
        assert site.requests == []


async def test_a_sound_certificate_is_verified_for_the_name_and_not_for_the_address(
    authority: Authority, egress: MappedEgress
) -> None:
    async with serve(authority.server("site.test")) as site:
        page = await webfetch(site.add("/", "<p>safe</p>"), egress=egress, tls=authority.trust())
    assert page.markdown == "safe"


async def test_a_server_without_tls_is_a_tls_error_on_https(egress: MappedEgress) -> None:
    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with server:
        error = await failure(f"https://site.test:{server.sockets[0].getsockname()[1]}/", egress)
    assert isinstance(error, TlsFailed)
    assert "wrong version number" in error.message
