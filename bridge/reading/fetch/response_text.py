"""Reads responses beside the event loop."""

from __future__ import annotations

from dataclasses import replace

from bridge.errors import FetchFailed
from bridge.reading.fetch.response import FetchedResponse
from bridge.reading.fetch.text import FetchedText, Wanted, text_of_body
from bridge.reading.markdown.document import joined
from bridge.reading.workers import ReaderEnded, read_document


async def read_response(response: FetchedResponse, wanted: Wanted) -> FetchedText:
    """The text of a response whose body is not binary.

    Raises:
        FetchFailed: Nothing matches the selector, or reading the page took more memory than it may.
        UsageError: The selector is not valid.
    """
    without_body = replace(response, body=b"")
    try:
        page, blocks = await read_document(response.body, text_of_body, without_body, wanted)
    except ReaderEnded as error:
        raise FetchFailed(f"{response.url} could not be read: {error}.", url=response.url) from error
    return replace(page, blocks=blocks)


async def read_plain_text(response: FetchedResponse) -> str:
    """The whole text of a response, of HTML as Markdown. Raises FetchFailed."""
    return joined((await read_response(response, Wanted(mode="raw"))).blocks).strip()
