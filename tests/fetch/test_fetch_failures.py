"""Servers that misbehave: each ends in time, in bounded memory, and in an error that says which it was."""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pytest
from site_server import Authority, MappedEgress, Site, serve

from bridge.errors import (
    BridgeError,
    DeadlineExceeded,
    EmptyBody,
    HttpFailed,
    NameNotResolved,
    NetworkFailed,
    NotText,
    PolicyRefused,
    RequestTimedOut,
    TlsFailed,
    TooManyRedirects,
)
from bridge.reading.fetch import webfetch
from bridge.reading.fetch_http import MAX_BODY_BYTES

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


async def failure(url: str, egress: MappedEgress, **options: object) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        await webfetch(url, egress=egress, **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"", "waiting for site.test"),
        (b"HTTP/1.1 200 OK\r\nContent-Ty", "waiting for site.test"),
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "3 bytes of the body"),
    ],
    ids=["no answer", "half of the headers", "half of the body"],
)
async def test_a_server_that_falls_silent_is_left_when_the_time_is_over(
    site: Site, egress: MappedEgress, sent: bytes, seen: str
) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        await asyncio.Event().wait()

    started = time.monotonic()
    error = await failure(site.does("/", stall), egress, timeout_s=0.4)
    assert time.monotonic() - started < 2.4
    assert isinstance(error, RequestTimedOut)
    assert isinstance(error, DeadlineExceeded)
    assert error.message.startswith(f"Request timed out: {site.url()} took longer than 0.4 s")
    assert seen in error.message
    assert error.code == "timeout"


async def test_a_body_that_drips_does_not_outlive_the_deadline(site: Site, egress: MappedEgress) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    error = await failure(site.does("/", drip), egress, timeout_s=0.5)
    assert isinstance(error, RequestTimedOut)


async def test_headers_that_drip_do_not_outlive_the_deadline(site: Site, egress: MappedEgress) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for count in range(10_000):
            writer.write(b"X-%d: y\r\n" % count)
            await writer.drain()
            await asyncio.sleep(0.02)

    assert isinstance(await failure(site.does("/", drip), egress, timeout_s=0.5), RequestTimedOut)


async def test_of_an_endless_body_the_first_megabytes_are_read_and_the_cut_is_said(
    site: Site, egress: MappedEgress
) -> None:
    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n<h1>Endless</h1>")
        while True:
            writer.write(b"<p>" + b"and on and on, " * 2_000 + b"\n")
            await writer.drain()

    page = await webfetch(site.does("/", pour), egress=egress, max_length=200)
    assert page.markdown.startswith("# Endless")
    assert page.truncated
    assert page.truncate_reasons == ("maxBody", "maxLength")
    assert page.body_bytes == MAX_BODY_BYTES
    assert any("larger than 5,000,000 bytes" in note for note in page.notes)
    await asyncio.wait_for(site.gone.wait(), 5)  # the connection was closed, not left to pour


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"\0" * 1_000_000
    return b"".join(packer.compress(b"<p>boom</p>" if i == 0 else block) for i in range(400)) + packer.flush()


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=5, lgwin=22)
    block = b" " * 1_000_000
    return b"".join(packer.process(b"<p>boom</p>" if i == 0 else block) for i in range(400)) + packer.finish()


def nested_gzip_bomb() -> bytes:
    return gzip.compress(gzip_bomb())


@pytest.mark.parametrize(
    ("coding", "make"), [("gzip", gzip_bomb), ("br", brotli_bomb), ("gzip, gzip", nested_gzip_bomb)]
)
async def test_a_bomb_unfolds_to_five_megabytes_and_no_further(
    site: Site, egress: MappedEgress, coding: str, make: object
) -> None:
    bomb = make()  # type: ignore[operator]
    assert len(bomb) < 2_000_000
    url = site.add("/", bomb, "text/plain", Content_Encoding=coding)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        try:
            page = await webfetch(url, egress=egress)
            assert page.truncate_reasons[0] == "maxBody"
        except NotText:  # 400 MB of zero bytes are no text, which is found out after the same 5 MB
            pass
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 12 * MAX_BODY_BYTES


async def test_a_coding_that_never_hands_anything_out_is_not_read_for_ever(site: Site, egress: MappedEgress) -> None:
    empty_members = gzip.compress(b"") * 3_000

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>first</p>"))
        while True:
            writer.write(empty_members)
            await writer.drain()

    page = await webfetch(site.does("/", pour), egress=egress)
    assert "first" in page.markdown
    assert page.truncate_reasons == ("maxBody",)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "the connection closed after 3 of 100 bytes of the body"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nabc", "closed in the middle of the body"),
        (HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", "does not speak HTTP as it should"),
        (HEAD + b"Content-Length: -5\r\n\r\nabcdef", "does not speak HTTP as it should"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", "does not speak HTTP as it should"),
        (HEAD + b"X-Long: " + b"x" * 200_000 + b"\r\n\r\n", "headers are longer than 100 kB"),
        (HEAD + b"X: y\r\n" * 40_000 + b"\r\n", "headers are longer than 100 kB"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "does not speak HTTP as it should"),
        (b"", "the server closed the connection without a whole answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the server closed the connection without a whole answer"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\nplain words", "no sound gzip"),
        (HEAD + b"Content-Encoding: br\r\n\r\n\xff\xff\xff plain", "no sound br"),
        (
            HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>text</p>" * 99, mtime=0)[:-20],
            "before it is complete",
        ),
        (HEAD + b"Content-Encoding: zstd\r\n\r\nx", "'zstd', which we did not ask for"),
        (HEAD + b"Content-Encoding: gzip, gzip, gzip, gzip\r\n\r\nx", "coded 4 times over"),
    ],
)
async def test_broken_http_is_called_what_it_is(site: Site, egress: MappedEgress, sent: bytes, words: str) -> None:
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
    assert "the body" in error.message or "before the answer was complete" in error.message


async def test_a_half_closed_connection_still_delivers_what_it_sent(site: Site, egress: MappedEgress) -> None:
    async def half_close(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n<p>All of it</p>")
        writer.write_eof()
        await asyncio.Event().wait()

    page = await webfetch(site.does("/", half_close), egress=egress, timeout_s=5)
    assert page.markdown == "All of it"


async def test_nobody_listening_names_the_address_and_the_reason(egress: MappedEgress) -> None:
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
    ("status", "words"),
    [
        ("404 Not Found", "HTTP 404: Not Found"),
        ("500 Internal Server Error", "HTTP 500: Internal Server Error"),
        ("503 Back Soon", "HTTP 503: Back Soon"),
        ("418 ", "HTTP 418: I'm a Teapot"),
        ("799 ", "HTTP 799"),
        ("304 Not Modified", "HTTP 304: Not Modified"),
        ("302 Found", "HTTP 302: Found"),
        ("300 Multiple Choices", "HTTP 300: Multiple Choices"),
    ],
)
async def test_a_status_that_is_no_success_is_an_error_with_its_reason(
    site: Site, egress: MappedEgress, status: str, words: str
) -> None:
    error = await failure(site.add("/", "", status=status), egress)
    assert isinstance(error, HttpFailed)
    assert error.message.replace("a teapot", "a Teapot") == words
    assert error.status == int(status[:3])


async def test_of_the_body_of_an_error_the_first_thousand_characters_are_told(site: Site, egress: MappedEgress) -> None:
    url = site.add("/", "Ä" * 5_000, "text/plain; charset=utf-8", status="404 Not Found")
    error = await failure(url, egress)
    assert error.message == "HTTP 404: Not Found\n\n" + "Ä" * 1_000


@pytest.mark.parametrize("kind", ["image/png", "text/html"])
async def test_a_binary_or_broken_body_of_an_error_does_not_hide_the_status(
    site: Site, egress: MappedEgress, kind: str
) -> None:
    url = site.add(
        "/", b"\x89PNG\r\n\x1a\n\0\0", kind, status="403 Forbidden", Content_Encoding="br" if "html" in kind else ""
    )
    assert (await failure(url, egress)).message == "HTTP 403: Forbidden"


@pytest.mark.parametrize("status", ["204 No Content", "205 Reset Content"])
async def test_no_content_is_an_empty_body(site: Site, egress: MappedEgress, status: str) -> None:
    error = await failure(site.does("/", f"HTTP/1.1 {status}\r\n\r\n".encode()), egress)
    assert isinstance(error, EmptyBody)
    assert error.message.startswith("Empty response body")


@pytest.mark.parametrize("body", ["", " \r\n\t "])
async def test_a_body_of_nothing_is_said(site: Site, egress: MappedEgress, body: str) -> None:
    error = await failure(site.add("/", body), egress)
    assert isinstance(error, EmptyBody)
    assert error.message == "Empty response body."


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("application/pdf", b"%PDF-1.7\n", "application/pdf of 9 bytes"),
        ("image/png", b"\x89PNG\r\n\x1a\n" + bytes(1000), "image/png of 1,008 bytes"),
        ("text/html", b"%PDF-1.7\n" + bytes(2000), "application/pdf of 2,009 bytes"),
        ("text/html", b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png of 108 bytes"),
        ("", b"PK\x03\x04" + bytes(100), "application/zip of 104 bytes"),
        ("application/octet-stream", bytes(range(256)), "application/octet-stream of 256 bytes"),
        ("video/mp4", b"", "video/mp4 of 0 bytes"),
    ],
)
async def test_what_is_no_text_is_named_with_its_type_and_size(
    site: Site, egress: MappedEgress, content_type: str, body: bytes, words: str
) -> None:
    error = await failure(site.add("/", body, content_type), egress)
    assert isinstance(error, NotText)
    assert words in error.message


async def test_a_large_file_is_not_downloaded_to_find_out_that_it_is_no_text(site: Site, egress: MappedEgress) -> None:
    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9000000000\r\n\r\n")
        while True:
            writer.write(bytes(100_000))
            await writer.drain()

    error = await failure(site.does("/", pour), egress)
    assert "video/mp4 of 9,000,000,000 bytes" in error.message
    await asyncio.wait_for(site.gone.wait(), 5)
    assert sum(record[4] for record in egress.records) < 1_000_000


async def test_a_circle_of_redirects_is_called_one(site: Site, egress: MappedEgress) -> None:
    site.add("/a", status="302 Found", Location="/b")
    site.add("/b", status="302 Found", Location=site.url("/a"))
    error = await failure(site.url("/a"), egress)
    assert isinstance(error, TooManyRedirects)
    assert "in a circle, back to" in error.message
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


async def test_a_hundred_fetches_leave_no_connection_and_no_task(site: Site, egress: MappedEgress) -> None:
    site.add("/", "<p>x</p>")
    site.add("/e", status="404 Not Found")
    tasks = len(asyncio.all_tasks())
    for _ in range(50):
        await webfetch(site.url("/"), egress=egress)
        await failure(site.url("/e"), egress)
    assert len(egress.records) == site.connections == 100
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) <= tasks + 1


IN_A_FRESH_PROCESS = """
import asyncio, resource, sys
from site_server import MappedEgress, serve
from test_fetch_failures import brotli_bomb, gzip_bomb
from bridge.errors import NotText
from bridge.reading.fetch import webfetch

async def main():
    async with serve() as site:
        await webfetch(site.add("/warm", "<p>warm</p>", Content_Encoding="identity"), egress=MappedEgress())
        bombs = {coding: make() for coding, make in (("gzip", gzip_bomb), ("br", brotli_bomb))}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for coding, bomb in bombs.items():
            try:
                await webfetch(site.add("/", bomb, "text/plain", Content_Encoding=coding), egress=MappedEgress())
            except NotText:
                pass
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
asyncio.run(main())
"""


def test_bombs_do_not_grow_the_process_either() -> None:
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", IN_A_FRESH_PROCESS],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown_bytes = int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert grown_bytes < 12 * MAX_BODY_BYTES
