"""The answer that the browser is about to make a download of, taken from it with the one request that it is of.

The device keeps no downloads for us, and its DownloadListener is told no more than an address, so that asking for it
again would be a second request: what answers once, or only to a form that is sent, could not be had. At the response
stage of `Fetch` the head of the answer is there and its body is not read yet; the body comes over CDP then, as fast as
we read it, and the request is ended as if the browser had cancelled it.

Of a body that is read so nobody tells how it ended: a connection that breaks off looks like the end of the file. So one
whose length is not known is taken only where a second request could not bring it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, Unsupported
from bridge.page.interception.fetch_messages import PausedResponse
from bridge.page.logs.headers import body_bytes, media_type
from bridge.page.target.attachment import Attachment

logger = logging.getLogger(__name__)

_END_S = 2.0
# What every engine shows of `application/…`; the rest of it is downloaded. Likewise the text/… that none shows
# (third_party/blink/common/mime_util, kUnsupportedTextTypes).
_SHOWN = frozenset({"json", "javascript", "ecmascript", "xml", "xhtml+xml", "x-javascript", "manifest+json"})
_TEXT_NOT_SHOWN = frozenset(
    {"calendar", "comma-separated-values", "csv", "rtf", "tab-separated-values", "tsv", "vcard", "x-csv", "x-vcard"}
)


def is_download(answer: PausedResponse, *, is_navigation: bool) -> bool:
    """Whether any engine makes a download of it; what only some would is left to them.

    Args:
        is_navigation: The page goes where it comes from, if it is something to show; else it was asked for by
            `<a download>`, and is a download whatever it says of itself.
    """
    if not 200 <= answer.status < 300 or answer.status in (204, 205):
        return False
    # RFC 6266 §4.2: an unknown type is an attachment; one that is left out, or a mere parameter, is none.
    disposition = answer.headers.get("content-disposition", "").partition(";")[0].strip().lower()
    if not is_navigation or (disposition not in ("", "inline") and "=" not in disposition):
        return True
    kind, _, subtype = media_type(answer.headers.get("content-type", "")).partition("/")
    if kind == "application":
        return bool(subtype) and subtype not in _SHOWN and not subtype.endswith(("+xml", "+json"))
    return kind == "text" and subtype in _TEXT_NOT_SHOWN


@asynccontextmanager
async def first_download(
    attachment: Attachment, deadline: Deadline, *, asks_again: bool
) -> AsyncIterator[asyncio.Future[PausedResponse]]:
    """The first answer inside the block that is a download, held for whoever reads it; its request ends with the block.

    Args:
        asks_again: What is not taken will be heard of, and asked for a second time.

    Raises:
        Unsupported: The engine cannot intercept requests, and nothing is asked for again; else nothing is taken then.
    """
    taken: asyncio.Future[PausedResponse] = asyncio.get_running_loop().create_future()

    def wants(answer: PausedResponse) -> bool:
        in_flight = attachment.state.requests.values()
        is_navigation = bool(answer.network_id) or any(entry.goes_to(answer.url) for entry in in_flight)
        if taken.done() or not is_download(answer, is_navigation=is_navigation):
            return False
        if asks_again and answer.method == "GET" and body_bytes(answer.headers) is None:
            return False
        taken.set_result(answer)
        return True

    try:
        remove = await attachment.fetching.intercept_responses(wants, timeout_s=deadline.remaining_s)
    except Unsupported as error:
        if not asks_again:
            raise
        logger.debug("what is downloaded will be asked for a second time: %s", error)
        yield taken
        return

    async def end() -> None:
        if taken.done() and not taken.cancelled():
            answer = taken.result()
            params = {"requestId": answer.request_id, "errorReason": "Aborted"}
            try:
                await attachment.connection.call(
                    "Fetch.failRequest", params, timeout_s=_END_S, session_id=answer.session_id
                )
            except BridgeError as error:
                logger.debug("%s was over: %s", answer.url[:200], error)
        await remove()

    try:
        yield taken
    finally:
        await finish(end(), at_most_s=_END_S, what="ending the request of a download")
