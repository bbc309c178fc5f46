"""Fits the weights of `bridge/reading/main_content/weights.json` to pages whose text is known.

    python -m tools.fit_reading_weights --segments FOLDER --articles FOLDER [--held-back 3]

Needs scikit-learn and trafilatura. SEGMENTS has `segments.json` (page: file, passages `with` and `without`) and
`html/*.gz`; ARTICLES has `ground-truth.json` (key: articleBody, url) and `html/KEY.html.gz`. Pages are put into four
folds by the MD5 of their name; the held-back fold is not read.

A logistic regression is fitted twice: once on what blocks show alone, and once, with the scores that models of the
other folds give, also on where they stand. Few blocks of a page are in the annotations. So a teacher is fitted first,
which also sees what trafilatura keeps of the page; the others are labelled by it and count less. What is packaged sees
only the page.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import trafilatura
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from bridge.reading.main_content.core import find_core, positions
from bridge.reading.main_content.evidence import WORD, Evidence, PageWords, evidence_of, page_words
from bridge.reading.main_content.surroundings import surroundings_of
from bridge.reading.main_content.text_blocks import TextBlock, TextBlocks, read_blocks
from bridge.reading.metadata import title_of
from bridge.reading.parsing import parse_html
from bridge.reading.structured import article_body, description_of

OUTPUT = Path(__file__).parents[1] / "bridge/reading/main_content/weights.json"
FOLDS = 4
ALONE_STRENGTH, PLACED_STRENGTH = 0.3, 0.5
#: Evidence on fewer blocks is left out, and a word in class names that fewer hosts use: it may be one designer's.
FEWEST, FEWEST_HOSTS = 4, 12
#: What counts of a page's blocks that only the teacher labels, and how many do.
TAUGHT_IMPORTANCE, MOST_TAUGHT = 0.1, 80
_CORE = "core: "
_WORD = re.compile(r"\w+")
#: Such a text may be kept by chance elsewhere.
_SHORT_HINT = 40


@dataclass(slots=True)
class Page:
    """A page with what is known of its blocks: label (1 for content, 0 for not) and importance (0 where unknown).

    Attributes:
        hints: What only the teacher sees.
    """

    fold: int
    host: str
    text: TextBlocks
    words: PageWords
    alone: list[Evidence]
    hints: list[Evidence]
    labels: list[float]
    importance: list[float]
    placed: list[Evidence] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", type=Path, required=True)
    parser.add_argument("--articles", type=Path, required=True)
    parser.add_argument("--held-back", type=int, default=FOLDS - 1)
    options = parser.parse_args()
    pages = [*_segment_pages(options.segments, options.held_back), *_article_pages(options.articles, options.held_back)]
    OUTPUT.write_text(json.dumps(fitted(pages), indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def fold_of(name: str) -> int:
    return int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def fitted(pages: Sequence[Page]) -> dict[str, dict[str, float]]:
    """The four tables of `weights.Weights`. Labels the blocks of `pages` that have no label."""
    teacher = _tables(_with_hints(pages))
    chance = random.Random(0)  # noqa: S311 - the same draw each time
    for page, hinted in zip(pages, _with_hints(pages), strict=True):
        _place(hinted, teacher["alone"])
        scores = [sum(teacher["all"].get(name, 0.0) * value for name, value in facts) for facts in hinted.placed]
        unknown = [at for at, importance in enumerate(page.importance) if not importance]
        for at in chance.sample(unknown, min(len(unknown), MOST_TAUGHT)):
            page.labels[at], page.importance[at] = float(scores[at] > 0), TAUGHT_IMPORTANCE
    tables = _tables(pages)
    alone, placed = tables["alone"], tables["all"]
    outside = {name: weight for name, weight in placed.items() if not name.startswith(_CORE)}
    extra = {name.removeprefix(_CORE): weight for name, weight in placed.items() if name.startswith(_CORE)}
    own = {*alone, *extra}
    return {
        "alone": _rounded(alone),
        "in_core": _rounded({name: outside.get(name, 0.0) + extra.get(name, 0.0) for name in own}),
        "outside": _rounded({name: weight for name, weight in outside.items() if name in own}),
        "place": _rounded({name: weight for name, weight in outside.items() if name not in own}),
    }


def _with_hints(pages: Iterable[Page]) -> list[Page]:
    return [
        replace(page, alone=[[*own, *hints] for own, hints in zip(page.alone, page.hints, strict=True)])
        for page in pages
    ]


def _tables(pages: Sequence[Page]) -> dict[str, dict[str, float]]:
    """Weights for blocks alone, and for all that is known of them."""
    hosts: dict[str, set[str]] = {}
    for page in pages:
        for name in {name for facts in page.alone for name, _ in facts if name.startswith(WORD)}:
            hosts.setdefault(name, set()).add(page.host)
    rare = {name for name, users in hosts.items() if len(users) < FEWEST_HOSTS}
    for fold in sorted({page.fold for page in pages}):
        others = _fit(_rows((page for page in pages if page.fold != fold), "alone"), ALONE_STRENGTH, rare)
        for page in pages:
            if page.fold == fold:
                _place(page, others)
    return {
        "alone": _fit(_rows(pages, "alone"), ALONE_STRENGTH, rare),
        "all": _fit(_rows(pages, "placed"), PLACED_STRENGTH, rare),
    }


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in weights.items() if abs(weight) >= 0.0005}


def _place(page: Page, weights: Mapping[str, float]) -> None:
    scores = [sum(weights.get(name, 0.0) * value for name, value in facts) for facts in page.alone]
    core = find_core(page.text, scores)
    page.placed = [
        [*own, *place, *((_CORE + name, value) for name, value in own if core.start <= at < core.end)]
        for at, (own, place) in enumerate(zip(page.alone, positions(page.text, scores, core, page.words), strict=True))
    ]


def _rows(pages: Iterable[Page], kind: str) -> list[tuple[Evidence, float, float]]:
    return [
        (facts, label, importance)
        for page in pages
        for facts, label, importance in zip(getattr(page, kind), page.labels, page.importance, strict=True)
        if importance
    ]


def _fit(rows: Sequence[tuple[Evidence, float, float]], strength: float, rare: Container[str]) -> dict[str, float]:
    counts = Counter(name for facts, _, _ in rows for name, _ in facts)
    known = sorted(name for name, count in counts.items() if count >= FEWEST and name.removeprefix(_CORE) not in rare)
    places = {name: at for at, name in enumerate(known)}
    columns: list[int] = []
    values: list[float] = []
    ends = [0]
    for facts, _, _ in rows:
        for name, value in facts:
            if (at := places.get(name)) is not None:
                columns.append(at)
                values.append(value)
        ends.append(len(columns))
    matrix = csr_matrix((values, columns, ends), shape=(len(rows), len(places)))
    matrix.sum_duplicates()
    model = LogisticRegression(C=strength, fit_intercept=False, max_iter=1_000, tol=1e-3)
    importance = np.array([weight for _, _, weight in rows])
    model.fit(matrix, np.array([label for _, label, _ in rows]), sample_weight=importance)
    return dict(zip(known, model.coef_[0].tolist(), strict=True))


def _segment_pages(folder: Path, held_back: int) -> Iterator[Page]:
    for name, known in sorted(_json(folder / "segments.json").items()):
        if fold_of(name) == held_back:
            continue
        page = _page(fold_of(name), name, _html(folder / "html" / f"{known['file']}.gz"))
        blocks = page.text.blocks
        for passage in known.get("without") or []:
            holding = [at for at, block in enumerate(blocks) if _folded(passage) in block.text]
            for at in holding:
                page.labels[at] = 0.0
                page.importance[at] += 1 / len(holding)
        for passage in known.get("with") or []:
            holding = [at for at, block in enumerate(blocks) if _folded(passage) in block.text]
            if holding:
                longest = max(holding, key=lambda at: len(blocks[at].text))
                page.labels[longest] = 1.0
                page.importance[longest] += 1
            else:
                _label_parts(page, blocks, _folded(passage))
        yield page


def _label_parts(page: Page, blocks: Sequence[TextBlock], passage: str) -> None:
    """Label the blocks that a passage runs through."""
    start = " ".join(block.text for block in blocks).find(passage)
    at = 0
    for index, block in enumerate(blocks):
        if start >= 0 and at < start + len(passage) and at + len(block.text) > start:
            page.labels[index], page.importance[index] = 1.0, page.importance[index] + 1
        at += len(block.text) + 1


def _article_pages(folder: Path, held_back: int) -> Iterator[Page]:
    for name, known in sorted(_json(folder / "ground-truth.json").items()):
        if fold_of(name) == held_back:
            continue
        page = _page(fold_of(name), known["url"], _html(folder / "html" / f"{name}.html.gz"))
        truth = _WORD.findall(known["articleBody"])
        joined, known_four = f" {' '.join(truth)} ", set(zip(*(truth[at:] for at in range(4)), strict=False))
        for index, block in enumerate(page.text.blocks):
            words = _WORD.findall(block.text)
            four = list(zip(*(words[at:] for at in range(4)), strict=False))
            if words:
                is_in = (
                    sum(map(known_four.__contains__, four)) * 2 > len(four)
                    if four
                    else f" {' '.join(words)} " in joined
                )
                page.labels[index], page.importance[index] = float(is_in), float(min(len(words), 100))
        whole = sum(weight for label, weight in zip(page.labels, page.importance, strict=True) if label) or 1.0
        page.importance = [min(4 * weight / whole, 1.0) for weight in page.importance]
        yield page


def _page(fold: int, url: str, html: str) -> Page:
    tree = parse_html(html)
    body = tree.find(".//body")
    text = read_blocks(tree if body is None else body)
    words = page_words(title_of(tree), description_of(tree), article_body(tree), text.blocks)
    alone = [evidence_of(block, near, words) for block, near in zip(text.blocks, surroundings_of(text), strict=True)]
    host = urlsplit(url).hostname or url
    return Page(fold, host, text, words, alone, _hints(url, html, text.blocks), [0.0] * len(alone), [0.0] * len(alone))


def _hints(url: str, html: str, blocks: Sequence[TextBlock]) -> list[Evidence]:
    """Which blocks trafilatura keeps, by three of its settings."""
    hints: list[Evidence] = [[] for _ in blocks]
    for name, setting in (("usual", {}), ("recall", {"favor_recall": True}), ("precision", {"favor_precision": True})):
        kept = _letters(trafilatura.extract(html, url=url, include_comments=False, **setting) or "")
        for block, facts in zip(blocks, hints, strict=True):
            own = _letters(block.text)
            facts.append((f"hint: {name}" if own and own[:300] in kept else f"hint: not {name}", 1.0))
            if own and len(own) < _SHORT_HINT:
                facts.append((f"hint: short, {name}", 1.0 if own in kept else -1.0))
    return hints


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def _html(path: Path) -> str:
    packed = gzip.decompress(path.read_bytes())
    try:
        return packed.decode("utf-8")
    except UnicodeDecodeError:
        return packed.decode("latin-1")


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
