"""Refs of one page session: numbers that are given out once and always mean the same element, until they are given
out anew because somebody asked for it.

The script numbers elements within one document; here those numbers become `e1`, `e2`, … of the whole session, over
all frames and navigations. What a ref meant stays known after its document is gone, so that an error can say it;
of a session that works for long, the oldest of those are forgotten.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bridge.errors import ActionFailed, RefNotFound, UsageError, action_error
from bridge.snapshot.wording import instead, refusal

_REF = re.compile(r"@?(e[1-9][0-9]{0,8})\Z")
_NEAREST_SHOWN = 3
# So many refs of documents that have been left stay known.
_LEFT_KEPT = 2_000
# A page that draws new elements all day is forgotten at its old end.
_KEPT = 20_000


class Ref(str):
    """A ref as it was shown; `numbering` tells it from the same number after the refs were numbered anew.

    Written as a plain string, a ref means what the newest numbering has shown.
    """

    __slots__ = ("numbering",)
    numbering: int


@dataclass(slots=True)
class RefEntry:
    """Where a ref leads: a script world (one document of one frame) and the number it has there.

    `is_cut` marks a place where the script left something out, which is no element that can be acted on; `goes_on` an
    element that a snapshot was cut before.
    """

    ref: str
    context_key: str
    frame_id: str
    local: str
    role: str
    name: str
    page_url: str
    is_cut: bool = False
    goes_on: bool = False

    def described(self) -> str:
        """`button "Pay"`: what the ref was when it was shown."""
        return f'{self.role} "{self.name}"' if self.name else self.role


def is_ref(text: object) -> bool:
    return isinstance(text, str) and _REF.match(text) is not None


def parse_ref(text: str) -> str:
    """`"e5"` or `"@e5"` as `"e5"`.

    Raises:
        UsageError: It does not look like a ref.
    """
    found = _REF.match(text) if isinstance(text, str) else None
    if not found:
        raise UsageError(f"{str(text)[:80]!r} is no ref", hint="Refs look like e5; take them from a snapshot.")
    return found.group(1)


class RefTable:
    """All refs that this page session has given out."""

    def __init__(self) -> None:
        self._by_ref: dict[str, RefEntry] = {}
        self._by_place: dict[tuple[str, str], RefEntry] = {}
        self._last = 0
        self._look_again_at = _LEFT_KEPT
        self._numbering = 0

    def __len__(self) -> int:
        return len(self._by_ref)

    def assign(
        self,
        context_key: str,
        frame_id: str,
        local: str,
        role: str,
        name: str,
        page_url: str,
        *,
        is_cut: bool = False,
    ) -> str:
        """The session's ref for an element that the script calls `local`; the same one every time."""
        entry = self._by_place.get((context_key, local))
        if entry is None:
            self._last += 1
            ref = Ref(f"e{self._last}")
            ref.numbering = self._numbering
            entry = RefEntry(ref, context_key, frame_id, local, role, name, page_url, is_cut)
            self._by_ref[entry.ref] = entry
            self._by_place[context_key, local] = entry
            if len(self._by_ref) > _KEPT:
                oldest = self._by_ref.pop(next(iter(self._by_ref)))
                del self._by_place[oldest.context_key, oldest.local]
        else:
            # The script gives a new number when the meaning changes; what may differ is a count in the name.
            entry.name = name
        return entry.ref

    def shown_as(self, text: str) -> RefEntry | None:
        """What a ref was when it was shown; None for one that was never given out."""
        return self._by_ref.get(parse_ref(text)) if self._is_of_now(text) else None

    def cut_before(self, refs: Iterable[str]) -> None:
        """A snapshot says that it goes on at these."""
        for ref in refs:
            if ref in self._by_ref:
                self._by_ref[ref].goes_on = True

    def at_place(self, context_key: str, local: str) -> RefEntry | None:
        """The entry of what the script calls `local` in that document; None where it was never shown."""
        return self._by_place.get((context_key, local))

    def number_anew(self) -> None:
        """Start again at e1: every ref of an earlier result is dead, also where its number is given out again."""
        self._numbering += 1
        self._by_ref.clear()
        self._by_place.clear()
        self._last = 0

    def forget_left(self, is_live: Callable[[str], bool]) -> None:
        """Let go of the oldest refs whose documents are gone; numbers are not given out again."""
        if len(self._by_ref) < self._look_again_at:
            return
        living = {key for key in {entry.context_key for entry in self._by_ref.values()} if is_live(key)}
        left = [entry for entry in self._by_ref.values() if entry.context_key not in living]
        for entry in left[:-_LEFT_KEPT]:
            del self._by_ref[entry.ref]
            del self._by_place[entry.context_key, entry.local]
        self._look_again_at = len(self._by_ref) + _LEFT_KEPT

    def look_up(self, text: str, is_live: Callable[[str], bool]) -> RefEntry:
        """The entry of a ref whose document is still shown.

        Args:
            text: The ref as a caller wrote it.
            is_live: Whether a context key belongs to a document that is still there.

        Raises:
            UsageError: Not the shape of a ref.
            RefNotFound: Never given out, or its document has been left.
        """
        ref = parse_ref(text)
        entry = self._by_ref.get(ref)
        if not self._is_of_now(text):
            raise RefNotFound(
                f"{ref} was given out before the refs were numbered anew.", hint="Take a new snapshot.", ref=ref
            )
        if entry is None:
            known = "was given out long ago and is forgotten" if int(ref[1:]) <= self._last else "was never given out"
            raise RefNotFound(f"{ref} {known} on this page.", hint="Take a snapshot.", ref=ref)
        if not is_live(entry.context_key):
            nearest = self._resembling(entry, is_live)
            raise RefNotFound(
                f"{ref} was {entry.described()} on {entry.page_url}, which has been left{_listed(nearest)}.",
                hint="Take a new snapshot.",
                ref=ref,
                was=entry.described(),
                nearest=[near.ref for near in nearest],
            )
        return entry

    def failure(self, entry: RefEntry, error: Mapping[str, object], is_live: Callable[[str], bool]) -> ActionFailed:
        """The error of the tree for what the script answered about `entry`, in words of the session's refs."""
        code = str(error.get("code") or "action_failed")
        if code in ("ref_not_found", "stale_ref"):
            now = error.get("now")
            if isinstance(now, str) and now:
                became = "and now belongs to something else" if now == entry.described() else f"and is now {now}"
            else:
                code, became = "ref_not_found", "and is gone"
            nearest = self._resembling(entry, is_live)
            return action_error(
                code,
                f"{entry.ref} was {entry.described()} {became}{_listed(nearest)}.",
                hint="Take a new snapshot.",
                ref=entry.ref,
                was=entry.described(),
                nearest=[near.ref for near in nearest],
            )
        message = refusal(error).rstrip(".")
        hint = instead(error, entry.ref)
        failed = action_error(code, f"{entry.ref} ({entry.described()}): {message}.", hint=hint, ref=entry.ref)
        if "options" in error:
            failed.details["options"] = error["options"]
        return failed

    def _is_of_now(self, text: str) -> bool:
        return not isinstance(text, Ref) or text.numbering == self._numbering

    def _resembling(self, entry: RefEntry, is_live: Callable[[str], bool]) -> list[RefEntry]:
        """The newest refs of the same role and a similar name, in documents that are still shown."""
        live = {
            other.name: other
            for other in self._by_ref.values()
            if other is not entry and other.role == entry.role and not other.is_cut and is_live(other.context_key)
        }
        return [live[name] for name in difflib.get_close_matches(entry.name, live, n=_NEAREST_SHOWN, cutoff=0.6)]


def _listed(entries: Iterable[RefEntry]) -> str:
    shown = ", ".join(f"{entry.ref} {entry.described()}" for entry in list(entries)[:_NEAREST_SHOWN])
    return f"; nearest: {shown}" if shown else ""
