"""The main content of a page, from its HTML alone."""

from bridge.reading.main_content.extract import Extracted, Kind, Mode, main_content

__all__ = ["Extracted", "Kind", "Mode", "main_content"]
