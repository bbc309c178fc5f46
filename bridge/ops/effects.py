"""What each operation does to the world, and which effects the operator denies or wants to be asked about."""

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

EFFECT_OF: Mapping[str, Effect] = {
    "navigate": "navigate",
    "snapshot": "observe",
    "read": "observe",
    "click": "act",
    "fill": "act",
    "press": "act",
    "select": "act",
    "upload": "file",
    "download": "file",
    "screenshot": "observe",
    "get_state": "observe",
    "wait_for": "observe",
    "network_log": "observe",
    "console": "observe",
    "new_tab": "navigate",
    "close_tab": "navigate",
    "back": "navigate",
    "forward": "navigate",
}


@dataclass(frozen=True, slots=True)
class ActionPolicy:
    """Which effects are denied, and which are confirmed by a person first.

    Attributes:
        deny: Refused without asking; denying wins over confirming.
        confirm: Asked about each time; where nobody can be asked, refused.
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
            UsageError: Another key, or a word that is no effect.
        """
        unknown = sorted(set(table) - {"deny", "confirm"})
        if unknown:
            raise UsageError(f"action policy: unknown key {unknown[0]!r}", hint='The keys are "deny" and "confirm".')
        return cls(deny=_effects("deny", table.get("deny", ())), confirm=_effects("confirm", table.get("confirm", ())))


def configured_actions(environ: Mapping[str, str]) -> ActionPolicy:
    """The `[browser.actions]` of the operator's configuration; without a file or that table every effect is allowed.

    Raises:
        UsageError: The file cannot be read, or is wrong in the table.
    """
    return ActionPolicy.from_mapping(configured_table(environ, "actions") or {})


def told_of(page: Page | None, ref: object) -> str:
    """What a person has to know who is asked about a call: ` on button "Pay", https://shop.example, tab t1`."""
    if page is None:
        return ""
    element, url = "", page.url
    if isinstance(ref, str) and (element := page.described(ref)):
        element, url = f"{cut(element, 200)}, ", page.document_url(ref)
    return f" on {element}{origin_of(url)}, tab {page.tab_id}"


def refused_by_effect(kind: str, effect: Effect, *, asked: bool) -> PolicyRefused:
    """The error of an operation that the action policy does not let through."""
    why = "nobody confirmed it" if asked else "the operator denies that effect"
    return PolicyRefused(f"{kind} is refused: its effect is {effect}, and {why}.", kind=kind, effect=effect)


def _effects(key: str, words: object) -> frozenset[Effect]:
    if not isinstance(words, list | tuple | set | frozenset):
        raise UsageError(f"action policy: {key} is not a list of effects")
    for word in words:
        if word not in EFFECTS:
            raise UsageError(
                f"action policy: {key}: {str(word)[:80]!r} is no effect", hint=f"Effects are {', '.join(EFFECTS)}."
            )
    return frozenset(cast("list[Effect]", list(words)))
