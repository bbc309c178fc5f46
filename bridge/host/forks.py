"""Closes locks and connections in forked children.

A fork copies every file descriptor, and a lock or connection lasts until its last copy is closed: a forked child would
keep a device after its parent was killed.
"""

from __future__ import annotations

import os
import weakref
from io import IOBase
from socket import socket

_held: weakref.WeakSet[IOBase | socket] = weakref.WeakSet()


def close_in_children(held: IOBase | socket) -> None:
    """Closes the file in children forked later."""
    _held.add(held)


def _close_all() -> None:
    for held in tuple(_held):
        held.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_all)
