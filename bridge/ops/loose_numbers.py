"""Numbers as models write them: `412`, `412.0` and `"412"` are the same."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BeforeValidator

_WRITTEN = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def as_number(given: Any) -> Any:
    """The number that text stands for, a whole one as int; anything else unchanged."""
    if isinstance(given, str) and _WRITTEN.fullmatch(given.strip()):
        given = float(given)
    return int(given) if isinstance(given, float) and given.is_integer() else given


#: Lets a strict model accept such numbers in one field.
LooseNumber = BeforeValidator(as_number)
