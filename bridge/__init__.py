"""Drive a real Android WebView from Python, over ADB."""

from __future__ import annotations

__version__ = "0.1.0"
