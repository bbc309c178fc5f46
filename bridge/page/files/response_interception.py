"""Intercepts the response that the browser is about to download, together with its one request.

The device stores no downloads for us, and WebView's DownloadListener reports only a URL. Fetching that URL again would
be a second request, and fails for a response that is sent once or only to a submitted form. At the response stage of
`Fetch`, the head of the response has arrived and its body has not been read. The body is then read over CDP, and the
request ends as if the browser had cancelled it.

CDP does not report how such a body ends: a broken connection looks like the end of the file. A response of unknown
length is therefore intercepted only if a second request could not fetch it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, Unsupported
from bridge.page.fetch_messages import PausedResponse
from bridge.page.logs.headers import body_bytes, media_type
from bridge.page.target.attachment import Attachment

logger = logging.getLogger(__name__)

_END_S = 2.0
# Subtypes of application/ that every engine displays; it downloads the others. And subtypes of text/ that none displays
# (third_party/blink/common/mime_util, kUnsupportedTextTypes).
_DISPLAYED = frozenset({"json", "javascript", "ecmascript", "xml", "xhtml+xml", "x-javascript", "manifest+json"})
_TEXT_NOT_DISPLAYED = frozenset(
    {"calendar", "comma-separated-values", "csv", "rtf", "tab-separated-values", "tsv", "vcard", "x-csv", "x-vcard"}
)


def is_download(response: PausedResponse, *, is_navigation: bool) -> bool:
    """True if every engine downloads the response. Those that only some download are left to the engine.

    Args:
        is_navigation: Whether the page navigates to the response if it can be displayed. Otherwise `<a download>`
            requested it, and it is a download whatever its headers say.
    """
    if not 200 <= response.status < 300 or response.status in (204, 205):
        return False
    # RFC 6266 §4.2: an unknown disposition type counts as attachment; a missing one, or a mere parameter, does not.
    disposition = response.headers.get("content-disposition", "").partition(";")[0].strip().lower()
    if not is_navigation or (disposition not in ("", "inline") and "=" not in disposition):
        return True
    kind, _, subtype = media_type(response.headers.get("content-type", "")).partition("/")
    if kind == "application":
        return bool(subtype) and subtype not in _DISPLAYED and not subtype.endswith(("+xml", "+json"))
    return kind == "text" and subtype in _TEXT_NOT_DISPLAYED


@asynccontextmanager
async def first_download(
    attachment: Attachment, deadline: Deadline, *, may_fetch_again: bool
) -> AsyncIterator[asyncio.Future[PausedResponse]]:
    """The first response inside the block that is a download, paused for the caller. Its request ends with the block.

    Args:
        may_fetch_again: Whether downloads that are not intercepted are reported otherwise, to be fetched again.

    Raises:
        Unsupported: The engine cannot intercept requests, and `may_fetch_again` is off. If it is on, no response is
            intercepted.
    """
    intercepted: asyncio.Future[PausedResponse] = asyncio.get_running_loop().create_future()

    def claims(response: PausedResponse) -> bool:
        in_flight = attachment.state.requests.values()
        is_navigation = bool(response.network_id) or any(entry.goes_to(response.url) for entry in in_flight)
        if intercepted.done() or not is_download(response, is_navigation=is_navigation):
            return False
        if may_fetch_again and response.method == "GET" and body_bytes(response.headers) is None:
            return False
        intercepted.set_result(response)
        return True

    try:
        remove = await attachment.fetching.intercept_responses(claims, timeout_s=deadline.remaining_s)
    except Unsupported as error:
        if not may_fetch_again:
            raise
        logger.debug("downloads will be fetched a second time: %s", error)
        yield intercepted
        return

    async def end() -> None:
        if intercepted.done() and not intercepted.cancelled():
            response = intercepted.result()
            params = {"requestId": response.request_id, "errorReason": "Aborted"}
            try:
                await attachment.connection.call(
                    "Fetch.failRequest", params, timeout_s=_END_S, session_id=response.session_id
                )
            except BridgeError as error:
                logger.debug("%s had ended already: %s", response.url[:200], error)
        await remove()

    try:
        yield intercepted
    finally:
        await finish(end(), at_most_s=_END_S, what="ending the request of a download")
