"""The options of a virtual device, passed to its process as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bridge.errors import UsageError

OLDEST_API_LEVEL, NEWEST_API_LEVEL = 26, 36


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """One device's configuration.

    Attributes:
        adb_host, adb_port: The adb server to join.
        authorize: "user" accepts the adb keys of this user; "never" makes the device unauthorized.
        has_engine: Whether it has WebViews, which need Chromium.
        has_host_app: Whether the host app is preinstalled.
        is_detached: Whether it outlives the process that started it.
        engine: Settings of the engine (see `webviews.py`).
    """

    name: str
    adb_host: str = "127.0.0.1"
    adb_port: int = 5037
    api_level: int = 34
    authorize: str = "user"
    quirks: bool = True
    idle_timeout_s: float = 300.0
    has_engine: bool = True
    has_host_app: bool = True
    is_detached: bool = False
    width_px: int = 412
    height_px: int = 915
    density_dpi: int = 160
    boot_s: float = 1.0
    engine: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not OLDEST_API_LEVEL <= self.api_level <= NEWEST_API_LEVEL:
            raise UsageError(f"API level {self.api_level} is not between {OLDEST_API_LEVEL} and {NEWEST_API_LEVEL}.")
        if self.authorize not in ("user", "never"):
            raise UsageError(f"authorize is {self.authorize!r}, not user or never.")
        if not self.name or len(self.name) > 60 or not self.name.replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"A device's name has up to 60 letters, digits, - and _: {self.name[:80]!r}.")

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> DeviceOptions:
        """Parses the options; UsageError if the line holds anything else."""
        try:
            given = json.loads(text)
            known = {item.name for item in fields(cls)}
            if not isinstance(given, dict) or set(given) - known:
                raise ValueError("unknown options")
            return cls(**given)
        except (ValueError, TypeError) as error:
            raise UsageError(f"not valid options of a virtual device: {error}.") from error
