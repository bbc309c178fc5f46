"""HTML to Markdown, and finished Markdown as blocks."""

from bridge.reading.markdown.convert import LinkStyle, to_blocks, to_markdown

__all__ = ["LinkStyle", "to_blocks", "to_markdown"]
