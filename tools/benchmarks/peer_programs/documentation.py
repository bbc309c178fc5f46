"""Made-up pages of documentation, of which every link, row of a table and line of code is known."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

LAYOUTS = {
    "article": "<body><header>{menu}</header><article>{text}</article><aside>{menu}</aside><footer>{menu}</footer>",
    "main": "<body><nav>{menu}</nav><main><div class=body>{text}</div></main><footer><p>(c) 2025</p></footer>",
    "boxes": "<body><div id=top>{menu}</div><div class=sidebar>{menu}</div><div class=markdown-body>{text}</div>",
    "cells": "<body><table><tr><td width=200>{menu}</td><td>{text}</td></tr></table><div class=footer>{menu}</div>",
}
WORDS = (
    "value option request parser buffer thread signal record filter vector matrix kernel module packet socket driver "
    "schema column branch commit editor server client stream header footer window output result caller handle memory"
).split()
SIZES = (2, 5, 9)


def pages() -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """The same pages each time: HTML, and what is in it."""
    chance = random.Random(7)  # noqa: S311 - test data
    for layout in LAYOUTS.values():
        for sections in SIZES:
            yield documentation(chance, layout, sections)


def documentation(chance: random.Random, layout: str, sections: int) -> tuple[str, dict[str, list[Any]]]:
    """A page, and its links (words, address), body rows of tables and texts of code."""
    wanted: dict[str, list[Any]] = {"links": [], "tables": [], "code": []}

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    def paragraph() -> str:
        link = (f"the {words(2)} {len(wanted['links'])}", f"/ref/{len(wanted['links'])}")
        wanted["links"].append(link)
        return f"<p>{words(14).capitalize()}, as {words(6)}; see <a href='{link[1]}'>{link[0]}</a>. {words(9)}.</p>"

    def table(has_head: bool) -> str:
        rows = [[f"{words(1)} {n}{m}" for m in range(3)] for n in range(3)]
        wanted["tables"] += rows
        head = f"<thead><tr>{''.join(f'<th>{words(1)}</th>' for _ in range(3))}</tr></thead>" if has_head else ""
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table class=docutils>{head}<tbody>{body}</tbody></table>"

    def code(is_highlighted: bool) -> str:
        lines = [f"def {words(1)}_{n}(x):\n    return x[{n}] * '{words(1)}'" for n in range(2)]
        text = "\n\n".join(lines)
        wanted["code"].append(text)
        if not is_highlighted:
            return f"<pre><code class=language-python>{text}</code></pre>"
        coloured = text.replace("def", "<span class=k>def</span>")
        return f"<div class=highlight-python><div class=highlight><pre>{coloured}</pre></div></div>"

    parts = [f"<h1>{words(3).capitalize()}</h1>"]
    for number in range(sections):
        parts += [f"<h2>{words(2).capitalize()}</h2>", paragraph(), code(number % 2 == 0), paragraph()]
        parts += [table(number % 2 == 0), paragraph()]
    menu = f"<ul>{''.join(f'<li><a href=/{n}>{words(2)}</a></li>' for n in range(9))}</ul>"
    html = f"<!doctype html><html><head><title>{words(3)}</title></head>{layout.format(menu=menu, text=''.join(parts))}"
    return html, wanted


def kept_of(markdown: str, wanted: dict[str, list[Any]]) -> dict[str, int]:
    rows = [line for line in markdown.split("\n") if line.count("|") > 1]
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", markdown, re.DOTALL | re.MULTILINE)
    return {
        "links": sum(f"[{text}](" in markdown and f"{path})" in markdown for text, path in wanted["links"]),
        "tables": sum(any(all(cell in row for cell in cells) for row in rows) for cells in wanted["tables"]),
        "code": sum(any(text in block for block in fenced) for text in wanted["code"]),
    }
