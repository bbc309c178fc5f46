"""What programs of this machine may send to the server's port, which keep nobody out who has the token."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import httpx
import pytest

from tests.mcp.conftest import LIMIT_S, Address, Serving
from tests.mcp.test_server_life import HANDSHAKE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

SLOW = 100
PIECE = b"X-Padding: " + b"a" * 65_000 + b"\r\n"


@pytest.fixture
def address(serving: Serving) -> Iterator[Address]:
    with serving.http() as served:
        yield served


def connected(address: Address) -> socket.socket:
    place = urlsplit(address.url)
    assert place.hostname is not None
    assert place.port is not None
    return socket.create_connection((place.hostname, place.port), timeout=LIMIT_S)


def is_served(address: Address) -> bool:
    answer = httpx.post(address.url, json=HANDSHAKE[0], headers=address.headers, timeout=LIMIT_S)
    return answer.status_code == 200


def test_requests_that_never_end_block_no_other_client(address: Address) -> None:
    with ExitStack() as held:
        for number in range(SLOW):
            slow = held.enter_context(connected(address))
            slow.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "[: 10 + number % 40])
        assert is_served(address)


def test_headers_without_an_end_are_refused_before_they_fill_the_memory(address: Address) -> None:
    with connected(address) as endless:
        endless.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        refused = b""
        with suppress(OSError):
            for _ in range(1_000):  # 65 MB; far less has to be enough
                endless.sendall(PIECE)
            pytest.fail("65 MB of headers were taken")
        with suppress(OSError):  # closed without a word
            refused = endless.recv(1_000)
        assert not refused or refused.startswith(b"HTTP/1.1 4")
    assert is_served(address)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # a TLS client
        b"\x00" * 500,
        b"GET /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET http://169.254.169.254/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
def test_an_invalid_request_is_refused_and_forgotten(address: Address, sent: bytes) -> None:
    with connected(address) as other:
        other.sendall(sent)
        other.shutdown(socket.SHUT_WR)
        answered = b""
        with suppress(OSError):  # closed without a word
            answered = other.recv(1_000)
        assert not answered or answered.startswith(b"HTTP/1.1 4"), answered
    assert is_served(address)
