"""The refs of a page: each is minted once and means the same element until the caller asks for a new numbering.

The script numbers the elements of one document. This table maps those numbers to `e1`, `e2`, … over all frames and
navigations of the tab. The table remembers what a ref meant after its document is gone, so that errors can say it, and
forgets the oldest refs of a long session.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bridge.errors import ActionFailed, BridgeError, RefNotFound, UsageError, action_error
from bridge.snapshot.escape import clean, cut, quote
from bridge.snapshot.lines.attributes import attr_word, shown_attrs
from bridge.snapshot.model import RenderOptions
from bridge.snapshot.parse import parse_snapshot
from bridge.snapshot.wording import instead, refusal

_REF = re.compile(r"@?(e[1-9][0-9]{0,8})\Z")
_NEAREST_SHOWN = 3
_NAME_CHARS = 200
# Words around an element that a stale ref's error repeats.
_AROUND_CHARS = 120
# Remembered refs of documents that are gone.
_MAX_UNLOADED = 2_000
# Remembered refs in all, for a page that keeps adding elements.
_MAX_REFS = 20_000


class Ref(str):
    """A ref with its numbering, which distinguishes it from the same number after a renumbering.

    A plain string means the ref of the current numbering.
    """

    __slots__ = ("numbering",)
    numbering: int


@dataclass(slots=True)
class RefEntry:
    """The target of a ref: an execution context (one document of one frame) and the script's number in it.

    Attributes:
        local: The script's number.
        page_url: The address of the page when the ref was minted.
        is_cut: A place where the script left something out, not an element.
        is_continuation: A snapshot was cut before this element.
    """

    ref: str
    context_key: str
    frame_id: str
    local: str
    role: str
    name: str
    page_url: str
    is_cut: bool = False
    is_continuation: bool = False

    @property
    def description(self) -> str:
        """`button "Pay"`: role and name as last shown."""
        return f'{self.role} "{self.name}"' if self.name else self.role

    @property
    def label(self) -> str:
        """`e5 (button "Pay")`: how errors name the element."""
        return f"{self.ref} ({self.description})"


def is_ref(text: object) -> bool:
    return isinstance(text, str) and _REF.match(text) is not None


def parse_ref(text: str) -> str:
    """`"e5"` or `"@e5"` as `"e5"`.

    Raises:
        UsageError: Not a valid ref.
    """
    found = _REF.match(text) if isinstance(text, str) else None
    if not found:
        raise UsageError(f"{str(text)[:80]!r} is not a valid ref", hint="Refs look like e5; take them from a snapshot.")
    return found.group(1)


def document_gone(entry: RefEntry) -> RefNotFound:
    """The error about an element whose document was left before the action reached it."""
    return RefNotFound(
        f"{entry.label} is stale: the page navigated away from {entry.page_url}.",
        hint="Take a new snapshot.",
        ref=entry.ref,
        was=entry.description,
    )


def line_of(raw: object, ref: str) -> str | None:
    """The line of one element as a snapshot would show it, such as `button "Pay" [disabled] [ref=e7]`.

    Args:
        raw: The script's snapshot of the element alone.
    """
    if not isinstance(raw, Mapping):
        return None
    try:
        snapshot = parse_snapshot(raw)
    except BridgeError:
        return None
    node = next(iter(snapshot.root.children), None)
    if node is None:
        return None
    name = cut(clean(node.name), _NAME_CHARS)
    attrs = [attr_word(attr) for attr in shown_attrs(node, name, RenderOptions(), snapshot.url)]
    return " ".join([node.role, *([quote(name)] if name else []), *(f"[{it}]" for it in (*attrs, f"ref={ref}"))])


class RefTable:
    """The refs of one tab."""

    def __init__(self) -> None:
        self._by_ref: dict[str, RefEntry] = {}
        self._by_place: dict[tuple[str, str], RefEntry] = {}
        self._last = 0
        self._prune_at = _MAX_UNLOADED
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
        """The ref of the element that the script calls `local`; the same one every time."""
        entry = self._by_place.get((context_key, local))
        if entry is None:
            self._last += 1
            ref = Ref(f"e{self._last}")
            ref.numbering = self._numbering
            entry = RefEntry(ref, context_key, frame_id, local, role, name, page_url, is_cut)
            self._by_ref[entry.ref] = entry
            self._by_place[context_key, local] = entry
            if len(self._by_ref) > _MAX_REFS:
                oldest = self._by_ref.pop(next(iter(self._by_ref)))
                del self._by_place[oldest.context_key, oldest.local]
        else:
            # The script gives a new number when the meaning changes; only a count in the name may differ.
            entry.name = name
        return entry.ref

    def get(self, text: str) -> RefEntry | None:
        """The entry of a ref, whether or not its document is still there; None if it is unknown."""
        return self._by_ref.get(parse_ref(text)) if self._is_current(text) else None

    def mark_continuations(self, refs: Iterable[str]) -> None:
        """Note the elements that a snapshot was cut before; `more` accepts them."""
        for ref in refs:
            if ref in self._by_ref:
                self._by_ref[ref].is_continuation = True

    def entry_at(self, context_key: str, local: str) -> RefEntry | None:
        """The entry of the element that the script calls `local` in that document; None if it has no ref."""
        return self._by_place.get((context_key, local))

    def renumber(self) -> None:
        """Start again at e1. Every ref of an earlier result is stale, even when its number is used again."""
        self._numbering += 1
        self._by_ref.clear()
        self._by_place.clear()
        self._last = 0

    def forget_unloaded(self, is_live: Callable[[str], bool]) -> None:
        """Forget the oldest refs whose documents are gone. Their numbers are not used again."""
        if len(self._by_ref) < self._prune_at:
            return
        living = {key for key in {entry.context_key for entry in self._by_ref.values()} if is_live(key)}
        unloaded = [entry for entry in self._by_ref.values() if entry.context_key not in living]
        for entry in unloaded[:-_MAX_UNLOADED]:
            del self._by_ref[entry.ref]
            del self._by_place[entry.context_key, entry.local]
        self._prune_at = len(self._by_ref) + _MAX_UNLOADED

    def look_up(self, text: str, is_live: Callable[[str], bool]) -> RefEntry:
        """The entry of a ref whose document is still there.

        Args:
            text: The ref as the caller wrote it.
            is_live: Whether a context key belongs to a document that is still there.

        Raises:
            UsageError: Not a valid ref.
            RefNotFound: The ref is unknown, or its document is gone.
        """
        ref = parse_ref(text)
        entry = self._by_ref.get(ref)
        if not self._is_current(text):
            raise RefNotFound(f"{ref} is from before the refs were renumbered.", hint="Take a new snapshot.", ref=ref)
        if entry is None:
            is_old = int(ref[1:]) <= self._last
            why = "is too old and has been forgotten" if is_old else "does not exist on this page"
            raise RefNotFound(f"{ref} {why}.", hint="Take a snapshot.", ref=ref)
        if not is_live(entry.context_key):
            nearest = self._resembling(entry, is_live)
            raise RefNotFound(
                f"{entry.label} is stale: the page navigated away from {entry.page_url}{_listed(nearest)}.",
                hint="Take a new snapshot.",
                ref=ref,
                was=entry.description,
                nearest=[near.ref for near in nearest],
            )
        return entry

    def failure(self, entry: RefEntry, error: Mapping[str, object], is_live: Callable[[str], bool]) -> ActionFailed:
        """The error for what the script reported about `entry`; it names the element by its ref."""
        code = str(error.get("code") or "action_failed")
        if code in ("ref_not_found", "stale_ref"):
            now = error.get("now")
            if isinstance(now, str) and now:
                became = "and now belongs to another element" if now == entry.description else f"and is now {now}"
            else:
                code, became = "ref_not_found", "and is gone from the page"
            nearest = self._resembling(entry, is_live)
            failed = action_error(
                code,
                f"{entry.ref} was {entry.description} {became}{_listed(nearest)}.",
                hint="Take a new snapshot.",
                ref=entry.ref,
                was=entry.description,
                nearest=[near.ref for near in nearest],
            )
            if isinstance(local := error.get("fresh"), str):
                role, name = str(error.get("role") or ""), str(error.get("name") or "")
                fresh = self.assign(entry.context_key, entry.frame_id, local, role, name, entry.page_url)
                failed.details["fresh"] = fresh
                failed.hint = f"Take a new snapshot, or use {fresh} for the element as it is now."
                if (line := line_of(error.get("line"), fresh)) is not None:
                    failed.details["line"] = line
                    around = cut(clean(str(error.get("around") or "")), _AROUND_CHARS)
                    failed.hint = f"It is now: {line}{f', beside {quote(around)}' if around else ''}. " + (
                        f"Use {fresh} if that is the one you mean."
                    )
            return failed
        message = refusal(error).rstrip(".")
        hint = instead(error, entry.ref)
        failed = action_error(code, f"{entry.label}: {message}.", hint=hint, ref=entry.ref)
        closer = error.get("closer")
        if code == "covered":
            # Elements that are in the way are named in messages; one that closes them has a ref.
            failed.hint = "Close what lies over it first."
            if isinstance(closer, list) and len(closer) == len(("ref", "role", "name")):
                local, role, name = (str(it) for it in closer)
                ref = self.assign(entry.context_key, entry.frame_id, local, role, name, entry.page_url)
                named = f"{clean(role)} {quote(cut(clean(name), _NAME_CHARS))}"
                failed.hint = f"Close what lies over it first, for example with {ref} ({named})."
                failed.details["closer"] = ref
        if "options" in error:
            failed.details["options"] = error["options"]
        return failed

    def _is_current(self, text: str) -> bool:
        return not isinstance(text, Ref) or text.numbering == self._numbering

    def _resembling(self, entry: RefEntry, is_live: Callable[[str], bool]) -> list[RefEntry]:
        """The newest refs of the same role and a similar name, in documents that are still there."""
        live = {
            other.name: other
            for other in self._by_ref.values()
            if other is not entry and other.role == entry.role and not other.is_cut and is_live(other.context_key)
        }
        return [live[name] for name in difflib.get_close_matches(entry.name, live, n=_NEAREST_SHOWN, cutoff=0.6)]


def _listed(entries: Iterable[RefEntry]) -> str:
    shown = ", ".join(f"{entry.ref} {entry.description}" for entry in list(entries)[:_NEAREST_SHOWN])
    return f"; nearest: {shown}" if shown else ""
