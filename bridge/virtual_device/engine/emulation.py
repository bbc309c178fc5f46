"""Turns a desktop tab into a phone's: view, touch, user agent and the host app's script, as CDP parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bridge.host.user_agent import mobile_user_agent
from bridge.snapshot.injected import packaged_script

BASE_DPI = 160


@dataclass(frozen=True)
class ViewSize:
    """The size of a tab's display. 160 dpi (mdpi) is a device pixel ratio of 1."""

    width_px: int
    height_px: int
    density_dpi: int

    @property
    def scale(self) -> float:
        return self.density_dpi / BASE_DPI

    @property
    def width_css(self) -> int:
        return max(1, round(self.width_px / self.scale))

    @property
    def height_css(self) -> int:
        return max(1, round(self.height_px / self.scale))

    def metrics(self) -> dict[str, Any]:
        """The parameters of Emulation.setDeviceMetricsOverride."""
        return {
            "width": self.width_css,
            "height": self.height_css,
            "deviceScaleFactor": self.scale,
            "mobile": True,
            "screenWidth": self.width_css,
            "screenHeight": self.height_css,
        }


@dataclass(frozen=True)
class Identity:
    """The device in the user agent."""

    chromium_version: str
    android_release: str = "14"

    @property
    def user_agent(self) -> str:
        return mobile_user_agent(self.chromium_version)

    def user_agent_override(self) -> dict[str, Any]:
        """The parameters of Emulation.setUserAgentOverride, with client hints that agree with the user agent."""
        major = self.chromium_version.partition(".")[0]
        names = ("Chromium", "Android WebView")
        grease = {"brand": "Not=A?Brand", "version": "24"}
        return {
            "userAgent": self.user_agent,
            "platform": "Linux armv81",
            "userAgentMetadata": {
                "brands": [grease, *({"brand": name, "version": major} for name in names)],
                "fullVersionList": [grease, *({"brand": name, "version": self.chromium_version} for name in names)],
                "platform": "Android",
                "platformVersion": f"{self.android_release}.0.0",
                "architecture": "",
                "model": "K",
                "mobile": True,
            },
        }


HOST_WORLD = "webview-host"


def host_script(secret: str) -> str:
    """The script for every document: pickers kill the app, and addresses of other apps are not opened.

    It opens a dialog with the text `SECRET ELEMENT` when a picker opens.
    """
    return f"{packaged_script('bridge.virtual_device.engine', 'host_quirks.min.js')}({json.dumps(secret)})"
