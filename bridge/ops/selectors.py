"""What a model's CSS selector may ask for where there are secrets.

`[value^="h"]`, then `[value^="hu"]`: whoever may compare the values of attributes needs no letter shown to have all of
them. So only attributes may be compared whose values the page's author has written. Whether a selector is refused does
not depend on the secrets: a refusal that did would tell them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bridge.errors import PolicyRefused

_WRITTEN_BY_AUTHORS = frozenset(
    {"class", "data-test", "data-testid", "dir", "for", "id", "lang", "name", "rel", "role", "tabindex", "type"}
)
# css-syntax-3 §4.3: an escape, a comment, a string (each perhaps cut off by the end), or one other character.
_PIECE = re.compile(
    r"""\\.|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*(?:"|\n|\\?\Z)|'(?:\\.|[^'\\\n])*(?:'|\n|\\?\Z)|.""", re.DOTALL
)


def check_selector(selector: str) -> None:
    """Refuse one that compares the value of another attribute.

    Raises:
        PolicyRefused: It does.
    """
    for name in compared_attributes(selector):
        if name not in _WRITTEN_BY_AUTHORS:
            raise PolicyRefused(
                "the selector compares the value of an attribute, which could tell the characters of a secret",
                hint=f"Where there are secrets it may compare {', '.join(sorted(_WRITTEN_BY_AUTHORS))}; "
                "any attribute may be asked for by its name alone.",
                secret="",
            )


def compared_attributes(selector: str) -> Iterator[str]:
    """The names, as they are written but in small letters, of the attributes whose values it compares."""
    name: str | None = None
    for piece in _PIECE.findall(selector):
        if piece == "[":
            name = ""
        elif piece == "]":
            name = None
        elif piece == "=" and name is not None:
            yield name.rstrip("~|^$*").strip().lower()
            name = None
        elif name is not None and not piece.startswith("/*"):
            name += piece
