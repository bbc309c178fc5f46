"""Statuses that are no success, and bodies that are no text."""

from __future__ import annotations

import asyncio

import pytest
from site_server import MappedEgress, Site, failure

from bridge.errors import (
    EmptyBody,
    HttpFailed,
    NotText,
)


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
async def test_an_error_status_is_an_error_with_its_reason(
    site: Site, egress: MappedEgress, status: str, words: str
) -> None:
    error = await failure(site.add("/", "", status=status), egress)
    assert isinstance(error, HttpFailed)
    assert error.message.replace("a teapot", "a Teapot") == words
    assert error.status == int(status[:3])


async def test_an_error_quotes_the_first_thousand_characters_of_the_body(site: Site, egress: MappedEgress) -> None:
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
async def test_an_error_about_a_binary_body_names_its_type_and_size(
    site: Site, egress: MappedEgress, content_type: str, body: bytes, words: str
) -> None:
    error = await failure(site.add("/", body, content_type), egress)
    assert isinstance(error, NotText)
    assert words in error.message


async def test_a_large_binary_file_is_not_downloaded_whole(site: Site, egress: MappedEgress) -> None:
    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 9000000000\r\n\r\n")
        while True:
            writer.write(bytes(100_000))
            await writer.drain()

    error = await failure(site.does("/", pour), egress)
    assert "video/mp4 of 9,000,000,000 bytes" in error.message
    await asyncio.wait_for(site.gone.wait(), 30)
    assert sum(record[4] for record in egress.records) < 1_000_000
