"""The ARIA roles that elements of a snapshot can have."""

from __future__ import annotations

import difflib

from bridge.errors import UsageError
from bridge.snapshot.role_table import ROLE_TRAITS, Role

__all__ = ["Role", "checked_role"]

_NEAREST_SHOWN = 3


def checked_role(role: str) -> str:
    """Validate a role to look for: no element ever has another one, so waiting for it would be pointless.

    Raises:
        UsageError: Not an ARIA role, or a synonym that the injected script does not use (`image` is `img` there).
    """
    if role in ROLE_TRAITS:
        return role
    near = difflib.get_close_matches(role.strip().lower(), ROLE_TRAITS, n=_NEAREST_SHOWN)
    hint = f"Did you mean {', '.join(near)}?" if near else "Use an ARIA role, such as button or link."
    raise UsageError(f"{role[:60]!r} is not a valid role", hint=hint)
