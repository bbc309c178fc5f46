"""Imports the modules of a package's names when the names are used, so that importing the package is cheap.

This module imports nothing at run time. `typing` alone takes a third of an interpreter's start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for `package`; `homes` maps each name to its module."""

    def named(name: str) -> Any:
        from importlib import import_module

        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return named
