"""The roles that an element of a page can have here, and what somebody meant who wrote another."""

from __future__ import annotations

import difflib

from bridge.errors import UsageError
from bridge.snapshot.role_table import ROLE_TRAITS

_NEAREST_SHOWN = 3


def checked_role(role: str) -> str:
    """`role`, which some element may have: for any other, nothing would ever be found, however long one waits.

    Raises:
        UsageError: ARIA has no such role, or none that the script in the page gives (`image` is `img` there).
    """
    if role in ROLE_TRAITS:
        return role
    near = difflib.get_close_matches(role.strip().lower(), ROLE_TRAITS, n=_NEAREST_SHOWN)
    hint = f"Did you mean {', '.join(near)}?" if near else "Roles are ARIA's words, such as button and link."
    raise UsageError(f"{role[:60]!r} is no role of an element", hint=hint)
