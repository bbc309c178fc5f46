"""The gate over real sockets, with clients and servers that may be hostile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import AsyncIterator

import pytest

from bridge.policy import BrowserPolicy
from bridge.policy.dialling import StreamPair
from bridge.policy.gate import Gate, run_gate
from bridge.policy.gate.http_messages import InvalidResponse
from bridge.policy.pinning import PinnedEgress

ADDRESS = "93.184.216.34"
# What the server behind every public address answers, by the path it is asked for.
ANSWERS = {
    b"/length": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"/hop": b"HTTP/1.1 200 OK\r\nConnection: X-Secret\r\nX-Secret: 1\r\nKeep-Alive: 1\r\nContent-Length: 0\r\n\r\n",
    b"/broken": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
    b"/smuggled": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
    b"/no-http": b"SSH-2.0-OpenSSH\r\n\r\n",
    b"/two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhello",
    b"/switches": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    b"/hints": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3
    + b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"/endless": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 200,
}


class Server:
    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                writer.write(ANSWERS[head.split(b" ")[1]])
                await writer.drain()
        except (asyncio.IncompleteReadError, KeyError, ConnectionError):
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield made


@pytest.fixture
async def gate(server: Server) -> AsyncIterator[Gate]:
    async def resolve(_host: str) -> tuple[str, ...]:
        return (ADDRESS,)

    async def connect(address: str, _port: int) -> StreamPair:
        assert address == ADDRESS
        return await asyncio.open_connection("127.0.0.1", server.port)

    policy = BrowserPolicy(allowed_origins=["site.example", "https://only-tls.example", "http://only-plain.example"])
    async with run_gate(PinnedEgress(policy, resolve=resolve, connect=connect)) as running:
        yield running


async def said(gate: Gate, request: bytes) -> bytes:
    """Everything that the gate answers until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    answer = b""
    try:
        writer.write(request)
        async with asyncio.timeout(30):
            while piece := await reader.read(65_536):
                answer += piece
    finally:
        writer.close()
    return answer


async def test_plain_requests_share_a_connection_and_are_rewritten_for_the_server(gate: Gate, server: Server) -> None:
    answer = await said(
        gate,
        b"GET http://site.example/length HTTP/1.1\r\nHost: evil.example\r\nProxy-Connection: keep-alive\r\n\r\n"
        b"GET http://site.example/chunked HTTP/1.1\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\n\r\n",
    )

    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert server.heads[0] == b"GET /length HTTP/1.1\r\nHost: site.example\r\n\r\n"
    assert server.heads[1] == b"GET /chunked HTTP/1.1\r\nHost: site.example\r\n\r\n"
    assert [(record.host, record.address) for record in gate.egress.audit] == [("site.example", ADDRESS)] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="TCP_CORK is Linux's")
@pytest.mark.parametrize("path", [b"/length", b"/chunked"])
async def test_the_head_of_a_response_is_sent_together_with_its_body(gate: Gate, path: bytes) -> None:
    """On a cable the piece that comes second is a round trip later (adb)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    try:
        writer.write(b"GET http://site.example%s HTTP/1.1\r\nHost: site.example\r\n\r\n" % path)
        async with asyncio.timeout(30):
            await reader.readuntil(ANSWERS[path].partition(b"\r\n\r\n")[2])
        facts = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
        assert struct.unpack_from("=I", facts, 152) == (1,)  # tcpi_data_segs_in: linux/tcp.h
    finally:
        writer.close()


async def test_a_tunnel_carries_bytes_and_is_audited(gate: Gate) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    writer.write(b"CONNECT site.example:443 HTTP/1.1\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /length HTTP/1.1\r\n\r\n")
    assert (await reader.readexactly(len(ANSWERS[b"/length"]))) == ANSWERS[b"/length"]
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()

    async with asyncio.timeout(30):
        while not gate.egress.audit:  # noqa: ASYNC110 - noted a moment after the last byte, in this loop
            await asyncio.sleep(0)
    assert gate.egress.audit[-1].bytes_received == len(ANSWERS[b"/length"])


async def test_hop_by_hop_headers_are_not_forwarded(gate: Gate) -> None:
    answer = await said(gate, b"GET http://site.example/hop HTTP/1.1\r\nConnection: close\r\n\r\n")

    assert b"X-Secret" not in answer
    assert b"Keep-Alive" not in answer


@pytest.mark.parametrize(
    "target", [b"http://other.example/", b"http://127.0.0.1/", b"http://0x7f.1/", b"http://site.example:25/"]
)
async def test_a_refused_request_gets_an_error_page_with_the_reason(gate: Gate, server: Server, target: bytes) -> None:
    answer = await said(gate, b"GET " + target + b" HTTP/1.1\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 403 Forbidden")
    assert b"X-Webview-Bridge: policy_refused" in answer
    assert server.heads == []
    assert gate.egress.audit[-1].decision.startswith("deny ")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET https://site.example/ HTTP/1.1\r\n\r\n",
        b"GET http://site.example/ HTTP/3\r\n\r\n",
        b"GET  http://site.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT site.example HTTP/1.1\r\n\r\n",
        b"CONNECT a@site.example:443 HTTP/1.1\r\n\r\n",
        b"CONNECT site.example:443/ HTTP/1.1\r\n\r\n",
        b"GET http://site.example/ HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET http://site.example/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        b"GET http://site.example/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        b"POST http://site.example/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST http://site.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST http://site.example/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST http://site.example/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET http://site.example/" + b"a" * 400_000 + b" HTTP/1.1\r\n\r\n",
    ],
    ids=lambda request: repr(request[:50]),
)
async def test_invalid_proxy_requests_are_refused_and_not_forwarded(
    gate: Gate, server: Server, request_bytes: bytes
) -> None:
    answer = await said(gate, request_bytes)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"not from the site.</p>\n")
    assert server.heads == []


def said_to_a_client_that_reads_last(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall(request)
        return b"".join(iter(lambda: sock.recv(65_536), b""))


@pytest.mark.parametrize("body_bytes", [1, 400_000, 8_000_000])
async def test_a_client_that_sends_everything_before_reading_sees_the_refusal(gate: Gate, body_bytes: int) -> None:
    head = b"POST http://other.example/ HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % body_bytes
    answer = await asyncio.to_thread(said_to_a_client_that_reads_last, gate.port, head + b"x" * body_bytes)

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert answer.endswith(b"not from the site.</p>\n")


async def test_a_client_that_never_stops_sending_is_disconnected(gate: Gate) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
    writer.write(b"nonsense\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")

    async def send_without_end() -> None:
        while True:
            writer.write(b"x" * 10_000)
            await writer.drain()
            await asyncio.sleep(0.05)

    with pytest.raises(ConnectionError):
        await asyncio.wait_for(send_without_end(), 30)
    writer.close()


BAD_ANSWERS = [b"/smuggled", b"/no-http", b"/two-lengths", b"/switches", b"/endless"]


@pytest.mark.parametrize("path", BAD_ANSWERS)
async def test_a_server_that_does_not_speak_http_is_reported(gate: Gate, path: bytes) -> None:
    answer = await said(gate, b"GET http://site.example" + path + b" HTTP/1.1\r\n\r\n")

    assert b"HTTP/1.1 502 " in answer
    assert b"X-Webview-Bridge: bad_answer" in answer
    assert b"hello" not in answer
    assert gate.egress.audit[-1].address == ADDRESS


@pytest.mark.parametrize("path", [b"/smuggled", b"/no-http", b"/two-lengths", b"/switches"])
async def test_a_browser_never_shows_an_error_page_as_the_sites_content(gate: Gate, path: bytes) -> None:
    async with run_gate(gate.egress, has_pages=False) as browsers:
        answer = await said(browsers, b"GET http://site.example" + path + b" HTTP/1.1\r\n\r\n")

    assert answer == b""
    assert isinstance(gate.egress.recent_failure("http://site.example/", within_s=60), InvalidResponse)


async def test_interim_responses_are_forwarded(gate: Gate) -> None:
    answer = await said(gate, b"GET http://site.example/hints HTTP/1.1\r\nConnection: close\r\n\r\n")

    assert answer.count(b"HTTP/1.1 103 ") == 3
    assert answer.endswith(b"\r\n\r\nhello")


async def test_a_scheme_in_an_allowed_origin_excludes_the_other_scheme(gate: Gate, server: Server) -> None:
    plain = await said(gate, b"GET http://only-tls.example/length HTTP/1.1\r\n\r\n")
    tunnel = await said(gate, b"CONNECT only-plain.example:443 HTTP/1.1\r\n\r\n")

    assert plain.startswith(b"HTTP/1.1 403 ")
    assert tunnel.startswith(b"HTTP/1.1 403 ")
    assert server.heads == []


async def test_chunk_extensions_are_not_forwarded(gate: Gate, server: Server) -> None:
    async def bodies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.heads.append(await reader.readuntil(b"0\r\n\r\n"))
        writer.write(ANSWERS[b"/length"])
        writer.close()

    listening = await asyncio.start_server(bodies, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        await said(
            gate,
            b"POST http://site.example/ HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"05\n;a=b\r\nhello\r\n0\r\n\r\n",
        )

    assert server.heads[0].endswith(b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")


async def test_a_truncated_response_is_cut_without_an_error_page(gate: Gate) -> None:
    try:
        answer = await said(gate, b"GET http://site.example/broken HTTP/1.1\r\n\r\n")
    except ConnectionResetError:
        return
    assert b"webview-bridge" not in answer


@pytest.mark.parametrize("turns", range(6))
async def test_a_client_accepted_just_before_the_end_reaches_nothing(turns: int, gate: Gate, server: Server) -> None:
    """asyncio accepts, makes the transport and calls the handler in turns of the loop of their own."""
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", gate.port))
        for _ in range(turns):
            await asyncio.sleep(0)
        await gate.stop()
        with contextlib.suppress(ConnectionError):
            await loop.sock_sendall(client, b"GET http://site.example/length HTTP/1.1\r\nConnection: close\r\n\r\n")
            async with asyncio.timeout(30):
                assert await loop.sock_recv(client, 1000) == b""
    assert server.heads == []
