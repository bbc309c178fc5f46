"""Roles and names of generated documents are those of Chromium's accessibility tree, but for declared differences."""

from __future__ import annotations

from collections import Counter

import pytest
from browser import Page
from chromium_names import Documents, Seen, count_differences

pytestmark = pytest.mark.browser

DOCUMENTS = 60
AT_LEAST_ALIKE = 0.998


def test_roles_and_names_are_those_of_chromium(tab: Page) -> None:
    tab.cdp("Accessibility.enable")
    kinds: Counter[str] = Counter()
    undeclared: list[tuple[int, Seen, Seen]] = []
    for seed in range(DOCUMENTS):
        of_document, differing = count_differences(tab, Documents(seed).document())
        kinds += of_document
        undeclared += [(seed, *pair) for pair in differing]
    print(f"{kinds.total()} elements: {dict(kinds)}")
    for seed, ours, theirs in undeclared:
        print(f"document {seed}: {ours} and in Chromium {theirs.role} {theirs.name!r}")
    assert kinds.total() > 1_000
    assert kinds["undeclared"] <= (1 - AT_LEAST_ALIKE) * kinds.total()
