"""`webfetch`: a page of the web as Markdown, without a browser."""

from bridge.reading.fetch.fetching import FetchCache, Fetched, Heading, PageFacts, Render, webfetch

__all__ = ["FetchCache", "Fetched", "Heading", "PageFacts", "Render", "webfetch"]
