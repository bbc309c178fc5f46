"""Authenticates HTTP clients of the server by a bearer token (RFC 6750).

Every user and program of the machine can connect to a loopback port; the Host and Origin checks keep out only web
pages. The token is accepted in the `Authorization` header alone, because an address with a token would appear in logs.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from bridge.errors import UsageError

TOKEN_VARIABLE = "BRIDGE_MCP_TOKEN"  # noqa: S105 - a name and not the token
# RFC 6750 §2.1 b64token, long enough to resist guessing.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{16,512}=*")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Token:
    """The token that clients have to send.

    Attributes:
        is_generated: Made for this start. The operator's own token is never printed.
    """

    value: str = field(repr=False)
    is_generated: bool

    @property
    def notice(self) -> str:
        """One line for the operator: how clients authenticate."""
        if self.is_generated:
            return f"clients send Authorization: Bearer {self.value} (new at each start; {TOKEN_VARIABLE} sets one)"
        return f"clients send Authorization: Bearer and the token of {TOKEN_VARIABLE}"


def token_for(environ: Mapping[str, str]) -> Token:
    """The operator's token, or a new random one.

    Raises:
        UsageError: The operator's token is not valid. The message does not quote it.
    """
    given = environ.get(TOKEN_VARIABLE)
    if given is None:
        return Token(secrets.token_urlsafe(32), is_generated=True)
    if not _TOKEN.fullmatch(given):
        raise UsageError(
            f"{TOKEN_VARIABLE} is not a valid token",
            hint="Use 16 to 512 letters, digits and - . _ ~ + /, such as `openssl rand -hex 32` prints.",
        )
    return Token(given, is_generated=False)


class Bearer:
    """Forwards requests with the token; responds to others with 401 (RFC 6750 §3)."""

    def __init__(self, app: App, token: Token) -> None:
        self._app = app
        self._expected = token.value.encode("ascii")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(given) == 1 and self._fits(given[0]):
                await self._app(scope, receive, send)
            else:
                await _refuse(send, is_wrong=bool(given))

    def _fits(self, header: bytes) -> bool:
        scheme, _, token = header.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(b" "), self._expected)


async def _refuse(send: Send, *, is_wrong: bool) -> None:
    challenge = b'Bearer realm="webview-bridge"' + (b', error="invalid_token"' if is_wrong else b"")
    body = b"Send the token that the server printed at its start, as Authorization: Bearer TOKEN.\n"
    headers = [
        (b"www-authenticate", challenge),
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        # The rest of the request is not read.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
