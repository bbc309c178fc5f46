"""Traces as tests: they pass, and a trace from a stranger brings no code along."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import Session, expect
from bridge.errors import UsageError
from bridge.surfaces.pytest_plugin.local_server import serving
from bridge.surfaces.trace.document import read_trace
from bridge.surfaces.trace.replay import test_source as replayed
from tests.pytest_plugin.conftest import SAMPLE, Project

SESSION = {"started_s": 0, "grants": []}


def operation(**fields: Any) -> dict[str, Any]:
    return {"number": 1, "tab": "t1", "subject": "", "arguments": {}, "outcome": "ok", **fields}


def source_of(*operations: dict[str, Any]) -> str:
    return replayed({"session": SESSION, "operations": list(operations)}, is_async=False, with_grants=False).source


@pytest.mark.browser
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_trace_turned_into_a_test_passes(
    webview_device: str, project: Project, tmp_path: Path, is_async: bool
) -> None:
    with serving(SAMPLE / "pages") as shop:
        async with Session.open(webview_device, grants=[shop.grant], trace=tmp_path / "trace.html") as session:
            page = await session.new_page(shop.url("shop.html"))
            shown = await page.snapshot()
            await page.fill(shown.find(role="textbox").ref, 'Ann\'s "friend"')
            await page.click(shown.find(role="button").ref)
            await expect(page.get_by_text(re.compile("thank", re.IGNORECASE))).to_be_visible()
            other = await session.new_page(shop.url("shop.html"))
            await expect(other).to_have_url("**/shop.html")
        made = replayed(read_trace(tmp_path / "trace.html"), is_async=is_async, with_grants=True)
        project.write("test_replay.py", made.source)
        run = project.run("--webview-device=virtual")

    assert "1 passed" in run.output, run.output


def test_elements_with_the_same_name_are_distinguished_by_their_number() -> None:
    element = {"ref": "e4", "role": "button", "name": "Add", "nth": 1, "of": 3}
    source = source_of(operation(name="click", arguments={"ref": "e4"}, element=element))

    assert "page.get_by_role('button', name='Add', exact=True).nth(1).click()" in source


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "click", "subject": "get_by_role(__import__('os').system('id'))"},
        {"name": "click", "subject": "__class__.mro()"},
        {"name": "click", "subject": "get_by_text('a'); import os"},
        {"name": "__init__", "subject": "get_by_text('a')"},
        {"name": "click() or exit", "subject": "expect(page)"},
        {"name": "to_have_text", "subject": "expect(open('x'))"},
        {"name": "evil()", "arguments": {}},
        {"name": "goto", "arguments": {"url=1, **exec('x')": 1}},
        {"name": "goto", "tab": "t1", "arguments": {"url": {"pattern": "a' + exit()", "flags": ""}}},
    ],
)
def test_a_trace_of_a_stranger_brings_no_code_along(bad: dict[str, Any]) -> None:
    try:
        source = source_of(operation(name="reload"), operation(**bad))
    except UsageError:
        return
    called = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
    assert called <= {"page.reload", "page.goto", "re.compile"}


def test_a_trace_of_a_stranger_brings_no_ports_along() -> None:
    trace = {"session": {"started_s": 0, "grants": [["127.0.0.1", 6379]]}, "operations": [operation(name="reload")]}
    made = replayed(trace, is_async=False, with_grants=False)
    assert "6379" not in made.source
    assert made.left_out == ("grants for 127.0.0.1:6379: --with-grants includes them",)
    assert "TestServerGrant('127.0.0.1', 6379)" in replayed(trace, is_async=False, with_grants=True).source


@pytest.mark.parametrize(
    "damaged",
    [
        {},
        {"operations": 1},
        {"operations": [1]},
        {"session": {}, "operations": [operation(name="reload")]},
        {"session": {"started_s": 1e300, "grants": []}, "operations": [operation(name="reload")]},
        *(
            {"session": SESSION, "operations": [operation(name="reload", arguments={"x": 1, name: 1})]}
            for name in ("class", "None", "__debug__")
        ),
    ],
)
def test_a_damaged_trace_is_reported_as_damaged(damaged: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="trace is damaged"):
        replayed(damaged, is_async=False, with_grants=False)


def test_what_is_written_passes_the_linters(tmp_path: Path) -> None:
    made = source_of(operation(name="goto", arguments={"url": "https://example.com/"}, result={"title": "Example"}))
    (tmp_path / "test_replay.py").write_text(made)

    subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "test_replay.py")], check=True, timeout=100
    )
