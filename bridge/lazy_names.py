"""Names of a package that bring their modules in when they are used, so that importing the package costs nothing.

Nor does this module: not even `typing`, whose import takes a third of an interpreter's start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `package`: name -> the module that it lives in."""

    def named(name: str) -> Any:
        from importlib import import_module

        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home), name)

    return named
