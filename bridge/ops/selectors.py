"""Restricts a model's CSS selectors when there are secrets.

With `[value^="h"]`, then `[value^="hu"]`, a selector reveals a value letter by letter. So a selector may compare only
attributes whose values the page's author writes. The decision does not depend on the secrets, or it would reveal them.
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
    """Refuse a selector that compares the value of any other attribute.

    Raises:
        PolicyRefused: It compares one.
    """
    for name in compared_attributes(selector):
        if name not in _WRITTEN_BY_AUTHORS:
            raise PolicyRefused(
                "the selector compares the value of an attribute, which could reveal a secret",
                hint=f"While secrets are set, a selector may compare only {', '.join(sorted(_WRITTEN_BY_AUTHORS))}; "
                "it may test any attribute for presence.",
                secret="",
            )


def compared_attributes(selector: str) -> Iterator[str]:
    """The names, in lower case and otherwise as written, of the attributes whose values the selector compares."""
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
