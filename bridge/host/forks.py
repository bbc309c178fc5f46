"""What a process holds for as long as it lives, and a child that is forked from it must not hold on to.

A lock, a connection ends with the last copy of its file, and a fork copies every file: after the parent was killed, a
child that knows nothing of devices would have one.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Closable(Protocol):
    def close(self) -> None: ...


_held: weakref.WeakSet[Closable] = weakref.WeakSet()


def close_in_children(held: Closable) -> None:
    """Close the copy of every child that is forked from here on."""
    _held.add(held)


def _close_all() -> None:
    for held in tuple(_held):
        held.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)
