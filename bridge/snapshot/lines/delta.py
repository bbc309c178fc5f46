"""Changes between two snapshots, shorter than a new one.

    [changes] url=https://shop.example/cart added=2 removed=1 changed=1
    ! "Added to cart"
    + - listitem [ref=e8]:
    +   - button "Remove" [ref=e9]
    ~ checkbox "Terms" [ref=e4]: checked
    - - button "Add" [ref=e2]

`!` marks a text that appeared, `+` a new line, `~` a changed node, `-` a removed line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bridge.errors import UsageError
from bridge.json_record import JsonRecord
from bridge.snapshot.escape import clean, cut, quote
from bridge.snapshot.model import Line, SnapshotResult

NO_CHANGE = "no change"
#: Below this the counts of omissions would not fit.
MIN_DELTA_CHARS = 120
_TEXT_CHARS = 200
# More lines than this with the same start are rows.
_ROWS = 8


@dataclass(frozen=True)
class Delta(JsonRecord):
    """The changes between two snapshots.

    Attributes:
        added: Refs that the second snapshot shows and the first did not have.
        removed: Refs that the second snapshot does not have any more.
        changed: Refs whose role, name, states or value are different.
        full: `text` is the whole second snapshot, because the changes would not have been shorter.
    """

    JSON_HAS_EMPTY = True

    text: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    full: bool = False

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return self.text != NO_CHANGE


def snapshot_delta(
    before: SnapshotResult,
    after: SnapshotResult,
    *,
    max_chars: int = 2_000,
    texts: Sequence[str] = (),
    full: bool = False,
    alive: Collection[str] | None = None,
) -> Delta:
    """Describes `after` to a reader of `before`.

    A ref is removed if the page no longer sent it, not if the budget left it out of `after`. A ref that `after` is the
    first to show is added, even if it existed before: the reader has not seen it. Many lines with the same start are
    rows, perhaps another part of the same list, and come last. Lines that only moved do not count as changes.

    Args:
        max_chars: Limit of the text, at least `MIN_DELTA_CHARS`.
        texts: Texts that appeared in between, perhaps only briefly (alerts, toasts, validation messages).
        full: Return the whole of `after` if that is not longer and fits.
        alive: If the page itself left nodes out of `after`, the refs of `before` that are still live: they are not
            removed, and missing text is not reported as gone.

    Raises:
        UsageError: The limit is too small.
    """
    if max_chars < MIN_DELTA_CHARS:
        raise UsageError(f"max_chars is {max_chars}; a delta needs at least {MIN_DELTA_CHARS}.")
    added = tuple(ref for ref in after.refs if ref not in before.refs)
    removed = tuple(ref for ref in missing_refs(before, after) if ref not in (alive or ()))
    old_lines = {line.ref: line for line in before.lines if line.ref}
    changes: list[tuple[str, str]] = []
    for line in after.lines:
        if line.ref in old_lines:
            words = _what_changed(old_lines[line.ref], line, before, after)
            if words:
                named = line._replace(name=after.refs[line.ref].name, attrs=())
                changes.append((line.ref, f"~ {_short(named)}: {words}"))
    changed = tuple(ref for ref, _ in changes)
    added_lines, rows = _added_lines(before, after)
    groups = _Groups(
        notes=[f"! {quote(words)}" for words in _news(texts, after)],
        changed=[words for _, words in changes],
        added=added_lines,
        removed=[f"- - {_short(line)}" for line in _gone(before, after, set(removed), words=alive is None)],
        rows=rows,
    )
    head = _head(before, after, added, removed, changed, max_chars)
    if groups.empty and head == _HEAD and not (added or removed or changed):
        return Delta(NO_CHANGE)
    text = groups.fit(head, max_chars)
    if full and len(after.text) <= max_chars and len(after.text) <= groups.whole(head):
        return Delta(after.text, added, removed, changed, full=True)
    return Delta(text, added, removed, changed)


def missing_refs(before: SnapshotResult, after: SnapshotResult) -> tuple[str, ...]:
    """Refs of `before` that the page did not send for `after`."""
    return tuple(ref for ref in before.refs if ref not in after.refs and ref not in after.cut_refs)


_HEAD = "[changes]"


def _head(
    before: SnapshotResult,
    after: SnapshotResult,
    added: tuple[str, ...],
    removed: tuple[str, ...],
    changed: tuple[str, ...],
    max_chars: int,
) -> str:
    counts = ""
    for word, refs in (("added", added), ("removed", removed), ("changed", changed)):
        if refs:
            counts += f" {word}={len(refs)}"
    room = max(0, max_chars // 2 - len(_HEAD) - len(counts) - 20)
    url = f" url={cut(after.url, max(8, room // 2))}" if after.url != before.url else ""
    title = f" title={quote(cut(after.title, max(8, room // 4)))}" if after.title != before.title else ""
    place = url + title
    return f"{_HEAD}{place if len(place) <= room else ' url and title changed' if url and title else ''}{counts}"


@dataclass(frozen=True)
class _Groups:
    notes: list[str]
    changed: list[str]
    added: list[str]
    removed: list[str]
    rows: list[str]

    @property
    def empty(self) -> bool:
        return not self._lines

    @property
    def _lines(self) -> list[str]:
        return [*self.notes, *self.changed, *self.added, *self.removed, *self.rows]

    def whole(self, head: str) -> int:
        """The total length in characters."""
        return len(head) + sum(len(line) + 1 for line in self._lines)

    def fit(self, head: str, max_chars: int) -> str:
        """The text: what appeared and what changed first, and the number of lines that did not fit."""
        if self.whole(head) <= max_chars:
            return "\n".join((head, *self._lines))
        named = (
            ("texts", self.notes),
            ("changed", self.changed),
            ("added", self.added),
            ("removed", self.removed),
            ("rows added", self.rows),
        )
        room = max_chars - len(head) - len(_rest([(word, len(lines)) for word, lines in named]))
        shown = [head]
        rest = []
        for word, lines in named:
            taken = 0
            for line in lines:
                if len(line) + 1 > room:
                    break
                room -= len(line) + 1
                shown.append(line)
                taken += 1
            rest.append((word, len(lines) - taken))
        return "\n".join(shown) + _rest(rest)


def _rest(counts: list[tuple[str, int]]) -> str:
    said = [f"{count} {word}" for word, count in counts if count]
    return f"\n… (more lines: {', '.join(said)})" if said else ""


def _short(line: Line) -> str:
    return line._replace(name=cut(line.name, _TEXT_CHARS)).body


def _what_changed(old: Line, new: Line, before: SnapshotResult, after: SnapshotResult) -> str:
    was, now = before.refs[new.ref], after.refs[new.ref]
    words = []
    if was.role != now.role or was.name != now.name:
        words.append(f"was {was.role} {quote(cut(was.name, 80))}" if was.name else f"was {was.role}")
    words += [attr for attr in new.attrs if attr not in old.attrs]
    keys = {attr.partition("=")[0] for attr in new.attrs}
    for attr in old.attrs:
        key = attr.partition("=")[0]
        if key not in keys:
            words.append(f"no {key}" if "=" in attr else f"not {key}")
    return ", ".join(words)


def _texts(lines: Sequence[Line]) -> Counter[tuple[str, str]]:
    return Counter((line.role, line.name) for line in lines if not line.ref and line.kind != "cut" and line.name)


def _added_lines(before: SnapshotResult, after: SnapshotResult) -> tuple[list[str], list[str]]:
    """New lines with their children below them, indented from the first of each group; and those that are rows."""
    unseen = _texts(after.lines) - _texts(before.lines)
    groups: list[tuple[tuple[str, int], list[str]]] = []
    base = last = -1
    for line in after.lines:
        if line.ref:
            new = line.ref not in before.refs
        else:
            key = (line.role, line.name)
            new = bool(line.name) and line.kind != "cut" and unseen[key] > 0
            if new:
                unseen[key] -= 1
        if not new:
            base = -1
            continue
        if base < 0 or line.depth < base or line.depth > last + 1:
            base = line.depth
        if line.depth == base:
            groups.append(((line.role, base), []))
        last = line.depth
        groups[-1][1].append(f"+ {'  ' * (line.depth - base)}- {_short(line)}")
    alike = Counter(kind for kind, _ in groups)
    news: list[str] = []
    rows: list[str] = []
    for kind, lines in groups:
        (rows if alike[kind] > _ROWS else news).extend(lines)
    return news, rows


def _gone(before: SnapshotResult, after: SnapshotResult, removed: set[str], *, words: bool) -> list[Line]:
    """The lines of removed refs, and (`words`) of texts that no longer occur."""
    if after.stats.texts_cut or not words:
        return [line for line in before.lines if line.ref in removed]
    missing = _texts(before.lines) - _texts(after.lines)
    out: list[Line] = []
    for line in before.lines:
        if line.ref:
            if line.ref in removed:
                out.append(line)
        elif line.kind != "cut" and missing[line.role, line.name] > 0:
            missing[line.role, line.name] -= 1
            out.append(line)
    return out


def _news(texts: Sequence[str], after: SnapshotResult) -> list[str]:
    """The texts that no line of `after` contains."""
    said = {line.name for line in after.lines}
    words = (cut(clean(text), _TEXT_CHARS) for text in texts)
    return [text for text in dict.fromkeys(words) if text and text not in said]
