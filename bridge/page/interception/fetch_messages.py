"""What `Fetch` tells and is told: paused requests and answers, what is decided about them, and who we are."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

from bridge.errors import UsageError


@dataclass(frozen=True, slots=True)
class PausedRequest:
    """A request that has not been sent yet.

    Attributes:
        kind: CDP's resource type: Document, Stylesheet, Image, Script, XHR, Fetch, …
        network_id: The id that the hops of one redirect chain share, "" where the engine does not tell.
        redirected: The request follows a redirect of the request with the same `network_id`.
        body: What is posted, None where there is nothing or the engine does not hand it out.
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
    """The head of an answer to a document's request; its body has not been read yet.

    Attributes:
        network_id: As of `PausedRequest`; "" for what was asked for as a download from the start.
        headers: By small names.
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
    """Fail it; `reason` is a CDP `Network.ErrorReason` such as Failed, Aborted, TimedOut, BlockedByClient."""

    reason: str = "Failed"


@dataclass(frozen=True, slots=True)
class Fulfil:
    """Answer it without a server; a `body` that is text is sent as UTF-8."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | str = b""

    def __post_init__(self) -> None:
        _check_body(self.body)


@dataclass(frozen=True, slots=True)
class Proceed:
    """Send it, with these changes; the page does not notice another `url`. `headers` replace all of the request's."""

    url: str | None = None
    method: str | None = None
    headers: Mapping[str, str] | None = None
    body: bytes | str | None = None

    def __post_init__(self) -> None:
        _check_body(self.body)


RouteAction: TypeAlias = Abort | Fulfil | Proceed


@dataclass(frozen=True, slots=True)
class AuthChallenge:
    """A server (or proxy) asks who is there."""

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


def route_command(request_id: str, verdict: RouteAction) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"requestId": request_id}
    match verdict:
        case Abort(reason):
            return "Fetch.failRequest", {**params, "errorReason": reason}
        case Fulfil(status, headers, body):
            params |= {"responseCode": status, "responseHeaders": _header_list(headers), "body": _base64(body)}
            if status not in {known.value for known in HTTPStatus}:
                params["responsePhrase"] = "Status"  # without a phrase the engine refuses a code it does not know
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
        raise UsageError(f"a body is {type(body).__name__}", hint="Give bytes, or text, which is sent as UTF-8.")


def _base64(content: bytes | str) -> str:
    return base64.b64encode(content.encode() if isinstance(content, str) else content).decode()
