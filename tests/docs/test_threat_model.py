"""The threat model says nothing that no test holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
DEFENDED, _, OPEN = TEXT.partition("## What is not defended")
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


@pytest.mark.parametrize(("file", "name"), sorted(set(NAMED.findall(TEXT))))
def test_each_named_test_exists(file: str, name: str) -> None:
    assert f"def {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")


def test_each_statement_names_its_test() -> None:
    sections = DEFENDED.partition("## A page")[2]
    items = re.split(r"\n(?=\* )", sections)[1:]
    rows = [row for row in sections.splitlines() if row.startswith("| ") and not row.startswith("| listener")]
    assert len(items) > 12
    assert len(rows) > 6
    assert [statement for statement in (*items, *rows) if not NAMED.search(statement)] == []
