"""Serves pages on loopback, with the grant that lets a session open them."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bridge.policy.grant import TestServerGrant

if TYPE_CHECKING:
    import ssl

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server; `url("form.html")` is an address on it."""

    port: int

    @property
    def grant(self) -> TestServerGrant:
        """For `Session.open(grants=…)`, which also reverses the port onto the device."""
        return TestServerGrant(HOST, self.port)

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    def url(self, path: str = "") -> str:
        return f"{self.origin}/{path.lstrip('/')}"


@contextmanager
def listening(
    handler: Callable[..., http.server.BaseHTTPRequestHandler], *, tls: ssl.SSLContext | None = None
) -> Iterator[LocalServer]:
    """Serve requests to a free port while the block runs."""
    with http.server.ThreadingHTTPServer((HOST, 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="local_server", daemon=True)
        thread.start()
        try:
            yield LocalServer(server.server_address[1])
        finally:
            server.shutdown()
            thread.join()


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """A request handler without logging to stderr."""

    def respond(self, body: bytes, content_type: str = "text/html", status: int = 200, **headers: str) -> None:
        """Send a whole response; `Set_Cookie="a=b"` is the header Set-Cookie."""
        self.begin(content_type, len(body), status, **headers)
        if self.command != "HEAD":
            self.wfile.write(body)

    def begin(self, content_type: str, body_bytes: int | None, status: int = 200, **headers: str) -> None:
        """Send status and headers. Without a length the body ends with the connection."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if body_bytes is not None:
            self.send_header("Content-Length", str(body_bytes))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving_table(pages: Mapping[str, tuple[str, bytes]], *, product: str) -> Iterator[LocalServer]:
    """Serve the pages, path -> (content type, body); other paths get 404."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"
        server_version = product
        sys_version = ""
        timeout = 30  # closes idle connections

        def do_GET(self) -> None:
            found = pages.get(self.path.partition("?")[0].partition("#")[0])
            content_type, body = found or ("text/plain; charset=utf-8", b"Not found.\n")
            status = 200 if found else 404
            self.respond(body, content_type, status, Cache_Control="no-store", X_Content_Type_Options="nosniff")

        def do_HEAD(self) -> None:
            self.do_GET()

    with listening(Handler) as server:
        yield server
