"""`webfetch`: a page of the web as Markdown, without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.reading.fetch.fetching import FetchCache, Fetched, Heading, PageFacts, Render, webfetch

__all__ = ["FetchCache", "Fetched", "Heading", "PageFacts", "Render", "webfetch"]

# A process that reads a document has no use for the network.
__getattr__ = lazy_names(__name__, dict.fromkeys(__all__, "bridge.reading.fetch.fetching"))
