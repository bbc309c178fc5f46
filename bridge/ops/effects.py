"""The effect of each operation, and which effects the operator denies or wants confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from bridge.errors import PolicyRefused, UsageError
from bridge.ops.content_markers import origin_of
from bridge.policy.configuration import configured_table
from bridge.snapshot.escape import cut

if TYPE_CHECKING:
    from bridge.page.page import Page

Effect = Literal["observe", "act", "navigate", "file"]
EFFECTS: tuple[Effect, ...] = get_args(Effect)


@dataclass(frozen=True, slots=True)
class ActionPolicy:
    """The effects that are denied, and those that need a person's confirmation.

    Attributes:
        deny: Always refused; takes precedence over `confirm`.
        confirm: Confirmed each time; refused if no person can be asked.
    """

    deny: frozenset[Effect] = field(default_factory=frozenset)
    confirm: frozenset[Effect] = field(default_factory=frozenset)

    def verdict(self, effect: Effect) -> Literal["allow", "deny", "confirm"]:
        if effect in self.deny:
            return "deny"
        return "confirm" if effect in self.confirm else "allow"

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> ActionPolicy:
        """The policy of `{"deny": ["file"], "confirm": ["act"]}`.

        Raises:
            UsageError: An unknown key or effect.
        """
        unknown = sorted(set(table) - {"deny", "confirm"})
        if unknown:
            raise UsageError(f"action policy: unknown key {unknown[0]!r}", hint='The keys are "deny" and "confirm".')
        return cls(deny=_effects("deny", table.get("deny", ())), confirm=_effects("confirm", table.get("confirm", ())))


def configured_actions(environ: Mapping[str, str]) -> ActionPolicy:
    """The `[browser.actions]` table of the operator's configuration; without one, every effect is allowed.

    Raises:
        UsageError: The file cannot be read, or the table is not valid.
    """
    return ActionPolicy.from_mapping(configured_table(environ, "actions") or {})


def describe_target(page: Page | None, ref: object) -> str:
    """The target of a call, for the person who confirms it: ` on button "Pay", https://shop.example, tab t1`."""
    if page is None:
        return ""
    element, url = "", page.url
    if isinstance(ref, str) and (element := page.described(ref)):
        element, url = f"{cut(element, 200)}, ", page.document_url(ref)
    return f" on {element}{origin_of(url)}, tab {page.tab_id}"


def refused_by_effect(kind: str, effect: Effect, *, needs_confirmation: bool) -> PolicyRefused:
    """The error of an operation that the action policy refuses."""
    why = "it was not confirmed" if needs_confirmation else "the operator denies that effect"
    return PolicyRefused(f"{kind} is refused: its effect is {effect}, and {why}.", kind=kind, effect=effect)


def _effects(key: str, given: object) -> frozenset[Effect]:
    if not isinstance(given, list | tuple | set | frozenset):
        raise UsageError(f"action policy: {key} is not a list of effects")
    for name in given:
        if name not in EFFECTS:
            raise UsageError(
                f"action policy: {key}: {str(name)[:80]!r} is not a valid effect",
                hint=f"The effects are {', '.join(EFFECTS)}.",
            )
    return frozenset(cast("list[Effect]", list(given)))
