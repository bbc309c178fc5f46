"""Options of a `<select>` by value, label or index, as the values that select them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.errors import ActionFailed, NoSuchOption, NotASelectElement, UsageError


def option_values_of(element: str, options: Sequence[Mapping[str, str]] | None, chosen: Mapping[str, Any]) -> list[str]:
    """The values of the chosen options.

    Args:
        options: The options of the element, each with value and label; None if it is not a `<select>`.
        chosen: One or a list by "value", "label" and "index"; None for what was not given.

    Raises:
        NotASelectElement, NoSuchOption
        ActionFailed: Another option has the same value, so that one cannot be selected by it.
    """
    if options is None:
        raise NotASelectElement(f"{element} is not a select element")
    found: list[str] = []
    for key, given in chosen.items():
        if given is None:
            continue
        for wanted in given if isinstance(given, Sequence) and not isinstance(given, str) else [given]:
            if not isinstance(wanted, int if key == "index" else str) or isinstance(wanted, bool):
                raise UsageError(f"{key} is {given!r}; it must be {'a number' if key == 'index' else 'a string'}.")
            places = [
                place
                for place, option in enumerate(options)
                if (place == wanted if key == "index" else option[key] == wanted)
            ]
            if not places:
                labels = ", ".join(repr(option["label"]) for option in options[:20])
                raise NoSuchOption(f"{element} has no option with {key} {wanted!r}; its options are {labels}")
            value = options[places[0]]["value"]
            if [option["value"] for option in options].index(value) != places[0]:
                raise ActionFailed(f"{element} has several options with value {value!r}")
            found.append(value)
    return found
