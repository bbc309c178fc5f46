"""Reading: HTML to Markdown, and the main content of a page. Pure: text in, values out.

from bridge.reading import convert

print(convert(html, "https://example.com/article").markdown)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.reading.conversion import Converted, convert

__all__ = ["Converted", "convert"]

__getattr__ = lazy_names(__name__, {"Converted": "bridge.reading.conversion", "convert": "bridge.reading.conversion"})
