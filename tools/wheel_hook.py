"""Refuses to build a wheel or an sdist without the host app's APK: such a package could not drive a phone.

WEBVIEW_BRIDGE_ALLOW_NO_APK=1 allows it, for checks and tests on machines without a JDK.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

APK = "bridge/host/host_app.apk"


class RequireHostApp(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        allowed = version == "editable" or os.environ.get("WEBVIEW_BRIDGE_ALLOW_NO_APK") == "1"
        if not allowed and not (Path(self.root) / APK).is_file():
            raise FileNotFoundError(
                f"{APK} is missing. Run tools/build-wheel, which builds the host app first, "
                "or tools/build-host-app and then this command again."
            )
