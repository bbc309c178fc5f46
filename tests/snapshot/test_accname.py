"""Roles, names and descriptions against the public cases of web-platform-tests."""

from __future__ import annotations

import collections
import json
from typing import Any

import pytest
from browser import ACCNAME, Page

pytestmark = pytest.mark.browser

CASES: dict[str, list[str]] = json.loads((ACCNAME / "cases.json").read_text())
KNOWN: dict[str, str] = json.loads((ACCNAME / "known_failures.json").read_text())
AT_LEAST = 525  # of 528; Chromium's own accessibility tree scores 494
SAME_ROLES = {"image": "img", "presentation": "none"}

# An isolated world does not see the page's variables: the shim's marks say which element a case is about.
ASK = """(kinds => {
  const found = {}, todo = [document];
  for (const root of todo)
    for (const el of root.querySelectorAll('*')) {
      for (const i of (el.getAttribute('data-hk') || '').split(' ')) if (i) found[i] = el;
      if (el.shadowRoot) todo.push(el.shadowRoot);
    }
  return kinds.map((kind, i) => found[i] ? __agentBrowser[kind + 'Of'](found[i]) : {error: 'no such element'});
})"""


def folded(kind: str, answer: Any) -> str:
    words = " ".join(answer.split()) if isinstance(answer, str) else json.dumps(answer)
    return SAME_ROLES.get(words, words) if kind == "role" else words


def test_the_public_cases_are_answered_as_listed(tab: Page) -> None:
    pages: dict[str, dict[int, list[str]]] = collections.defaultdict(dict)
    for case, wanted in CASES.items():
        page, _, index = case.partition("#")
        pages[page][int(index)] = wanted
    failed: dict[str, str] = {}
    for page, cases in pages.items():
        tab.goto("/" + page)
        tab.run("__hkReady")
        kinds = [cases[i][1] if i in cases else "name" for i in range(max(cases) + 1)]
        answers = tab.run(f"{ASK}({json.dumps(kinds)})", world=tab.world())
        for index, (_suite, kind, *expected) in cases.items():
            got = folded(kind, answers[index])
            if got not in [folded(kind, one) for one in expected]:
                failed[f"{page}#{index}"] = f"{kind} {got!r}, expected {' or '.join(map(repr, expected))}"

    score = collections.Counter(suite for case, (suite, *_) in CASES.items() if case not in failed)
    of = collections.Counter(suite for suite, *_ in CASES.values())
    print(f"accname: {score.total()}/{len(CASES)};", ", ".join(f"{suite} {score[suite]}/{of[suite]}" for suite in of))
    new = [f"newly failing: {case}: {failed[case]}" for case in sorted(failed.keys() - KNOWN.keys())]
    passing = [f"passes now, take it from the list: {case}" for case in sorted(KNOWN.keys() - failed.keys())]
    assert not new + passing, "\n".join(["", *new, *passing])
    assert score.total() >= AT_LEAST
