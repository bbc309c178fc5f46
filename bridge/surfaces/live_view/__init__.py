"""Shows an off-screen tab live in a browser of this machine, so that a person can act on it.

For a login, a second factor or a CAPTCHA: a person opens the address, sees the tab, takes over and hands back. Until
then operations on the page wait, and their notices report the wait.
"""

from __future__ import annotations

from bridge.surfaces.live_view.server import LiveView, live_view

__all__ = ["LiveView", "live_view"]
