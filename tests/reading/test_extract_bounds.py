"""How long it takes to find the content of a page that nests everything in everything."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bridge.reading.main_content import main_content
from bridge.reading.markdown import to_markdown
from bridge.reading.parsing import parse_html


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


@pytest.mark.parametrize("piece", ["<div>", "<ul><li>", "<table><tr><td>", "<dl><dt>a<dd>b"])
def test_extraction_costs_little_more_than_writing_all_of_it(piece: str) -> None:
    html = f"{piece * 16_000}words"
    to_markdown(parse_html(html))

    raw = min(seconds(lambda: to_markdown(parse_html(html))) for _ in range(3))
    read = min(seconds(lambda: to_markdown(main_content(parse_html(html)).tree)) for _ in range(3))

    assert read < 35 * raw  # every element's words at every level: 50 to 100 times as much
