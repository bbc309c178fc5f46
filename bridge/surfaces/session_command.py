"""A command for a session as it crosses between processes: the options that open the session, and the result.

Imported by every command of the command line, so it imports the policy only when it is asked for one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bridge.errors import UsageError

if TYPE_CHECKING:
    from bridge.policy import BrowserPolicy, TestServerGrant


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command, as `--json` prints it.

    Attributes:
        blob: The bytes of a screenshot or an archive that goes into a file.
    """

    json: Mapping[str, Any]
    blob: bytes = b""


@dataclass(frozen=True, slots=True)
class StartOptions:
    """Options for opening a session, sent as JSON to the process that keeps it."""

    device: str = "auto"
    adb_server: str | None = None
    local_ports: tuple[int, ...] = ()
    trace: str | None = None
    allowed_origins: tuple[str, ...] = ()
    uploads_root: str | None = None
    downloads_root: str | None = None

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> StartOptions:
        try:
            ports = tuple(sorted({int(port) for port in facts.get("local_ports", ())}))
            origins = tuple(sorted({str(origin) for origin in facts.get("allowed_origins", ())}))
            named = ("adb_server", "trace", "uploads_root", "downloads_root")
            rest = {key: None if facts.get(key) is None else str(facts[key]) for key in named}
            return cls(str(facts.get("device", "auto")), local_ports=ports, allowed_origins=origins, **rest)
        except (TypeError, ValueError) as error:
            raise UsageError(f"not valid session options: {error}") from error

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def grants(self) -> tuple[TestServerGrant, ...]:
        """Grants each port of `--local PORT` under both names that people type."""
        from bridge.policy import TestServerGrant

        return tuple(TestServerGrant(host, port) for port in self.local_ports for host in ("127.0.0.1", "localhost"))

    def policy(self) -> BrowserPolicy:
        """The operator's configured policy, with `--allow` over it.

        Raises:
            UsageError: The configuration cannot be read or is not valid.
        """
        from bridge.policy.configuration import load_policy

        return load_policy("operator", os.environ, {"allowed_origins": self.allowed_origins or None})

    def check_covers(self, wanted: StartOptions, name: str) -> None:
        """Raise UsageError unless a session that was opened with these options is the one that `wanted` describes."""
        differ = {
            f"device {self.device}": wanted.device not in ("auto", self.device),
            f"adb server {self.adb_server or 'as adb finds it'}": wanted.adb_server not in (None, self.adb_server),
            f"trace {self.trace or 'none'}": wanted.trace not in (None, self.trace),
            f"uploads root {self.uploads_root or 'none'}": wanted.uploads_root not in (None, self.uploads_root),
            f"downloads root {self.downloads_root or 'none'}": wanted.downloads_root not in (None, self.downloads_root),
            f"local ports {', '.join(map(str, self.local_ports)) or 'none'}": not (
                set(wanted.local_ports) <= set(self.local_ports)
            ),
            f"allowed origins {', '.join(self.allowed_origins) or 'as configured'}": bool(wanted.allowed_origins)
            and set(wanted.allowed_origins) != set(self.allowed_origins),
        }
        for option, differs in differ.items():
            if differs:
                raise UsageError(
                    f"session {name!r} is open with other options: {option}.",
                    hint="'webview-bridge close' ends it; --session NAME opens another.",
                )
