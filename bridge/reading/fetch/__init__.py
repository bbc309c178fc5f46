"""`webfetch`: a page of the web as Markdown, without a browser."""

from bridge.reading.fetch.fetching import Egress, FetchCache, Fetched, Heading, PageFacts, Render, webfetch

__all__ = ["Egress", "FetchCache", "Fetched", "Heading", "PageFacts", "Render", "webfetch"]
