"""The live picture of an off-screen tab in a browser of this machine, and a person's hands on it.

For a login, a second factor or a CAPTCHA: whoever opens the address sees the tab, takes over, and hands back. While a
person has taken over, operations on the page wait, and say so when they go on.
"""

from __future__ import annotations

from bridge.surfaces.live_view.server import LiveView, live_view

__all__ = ["LiveView", "live_view"]
