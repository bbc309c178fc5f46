"""The device's commands. Importing this package fills the table in `shell.call`."""

from __future__ import annotations

from bridge.virtual_device.shell.commands import activity, dumpsys, files, listing, packages, system, text

__all__ = ["activity", "dumpsys", "files", "listing", "packages", "system", "text"]
