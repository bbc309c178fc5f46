"""Messages of CDP's `Fetch` domain: paused requests and responses, actions on them, authentication."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

from bridge.errors import UsageError


@dataclass(frozen=True, slots=True)
class PausedRequest:
    """A request that is about to be sent.

    Attributes:
        kind: CDP's resource type: Document, Stylesheet, Image, Script, XHR, Fetch, …
        network_id: The id that all requests of one redirect chain share; "" if the engine does not report it.
        redirected: Whether the request follows a redirect of the request with the same `network_id`.
        body: The request body; None if there is none or the engine does not provide it.
    """

    request_id: str
    url: str
    method: str
    headers: Mapping[str, str]
    kind: str
    frame_id: str
    network_id: str = ""
    redirected: bool = False
    body: bytes | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class PausedResponse:
    """The head of a response to a document request; its body has not been read yet.

    Attributes:
        network_id: As in `PausedRequest`; "" for a request that was a download from the start.
        headers: By lower-case name.
    """

    request_id: str
    url: str
    method: str
    status: int
    headers: Mapping[str, str]
    network_id: str = ""
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """Fail the request. `reason` is a CDP `Network.ErrorReason`: Failed, Aborted, TimedOut, BlockedByClient, …"""

    reason: str = "Failed"


@dataclass(frozen=True, slots=True)
class Fulfil:
    """Respond without a server. A `body` of text is sent as UTF-8."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | str = b""

    def __post_init__(self) -> None:
        _check_body(self.body)


@dataclass(frozen=True, slots=True)
class Proceed:
    """Send the request with these changes. The page does not see a changed `url`. `headers` replace all headers."""

    url: str | None = None
    method: str | None = None
    headers: Mapping[str, str] | None = None
    body: bytes | str | None = None

    def __post_init__(self) -> None:
        _check_body(self.body)


RouteAction: TypeAlias = Abort | Fulfil | Proceed


@dataclass(frozen=True, slots=True)
class AuthChallenge:
    """A server or proxy asks for credentials."""

    url: str
    origin: str
    scheme: str
    is_proxy: bool
    tried_before: bool


@dataclass(frozen=True, slots=True)
class Credentials:
    username: str
    password: str = field(repr=False)


def paused_request(params: Mapping[str, Any], session_id: str | None) -> PausedRequest:
    request = params["request"]
    return PausedRequest(
        request_id=params["requestId"],
        url=str(request.get("url", "")) + str(request.get("urlFragment", "")),
        method=str(request.get("method", "GET")),
        headers={str(name): str(value) for name, value in request.get("headers", {}).items()},
        kind=str(params.get("resourceType", "Other")),
        frame_id=str(params.get("frameId", "")),
        network_id=str(params.get("networkId", "")),
        redirected="redirectedRequestId" in params,
        body=_body(request),
        session_id=session_id,
    )


def paused_response(params: Mapping[str, Any], session_id: str | None) -> PausedResponse:
    headers = {str(header["name"]).lower(): str(header["value"]) for header in params.get("responseHeaders", ())}
    return PausedResponse(
        request_id=params["requestId"],
        url=str(params["request"].get("url", "")),
        method=str(params["request"].get("method", "GET")),
        status=int(params.get("responseStatusCode") or 0),
        headers=headers,
        network_id=str(params.get("networkId", "")),
        session_id=session_id,
    )


def _body(request: Mapping[str, Any]) -> bytes | None:
    entries = request.get("postDataEntries")
    if isinstance(entries, list) and entries and all("bytes" in entry for entry in entries):
        return b"".join(base64.b64decode(entry["bytes"]) for entry in entries)
    text = request.get("postData")
    return text.encode() if isinstance(text, str) else None


def route_command(request_id: str, action: RouteAction) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"requestId": request_id}
    match action:
        case Abort(reason):
            return "Fetch.failRequest", {**params, "errorReason": reason}
        case Fulfil(status, headers, body):
            params |= {"responseCode": status, "responseHeaders": _header_list(headers), "body": _base64(body)}
            if status not in {known.value for known in HTTPStatus}:
                params["responsePhrase"] = "Status"  # the engine refuses an unknown code without a phrase
            return "Fetch.fulfillRequest", params
        case Proceed(url, method, headers, body):
            if url is not None:
                params["url"] = url
            if method is not None:
                params["method"] = method
            if headers is not None:
                params["headers"] = _header_list(headers)
            if body is not None:
                params["postData"] = _base64(body)
            return "Fetch.continueRequest", params


def _header_list(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _check_body(body: object) -> None:
    if body is not None and not isinstance(body, bytes | str):
        raise UsageError(f"a body must be bytes or text, not {type(body).__name__}", hint="Text is sent as UTF-8.")


def _base64(content: bytes | str) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()
