"""Type checkers on suites as users write them: the examples, and mistakes that have to be found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "docs" / "examples"
SUITES = [*sorted((EXAMPLES / "tests").glob("*.py")), *sorted((EXAMPLES / "own_app").glob("*.py"))]
PYRIGHT_VERSION = "1.1.414"
PYRIGHT = ROOT / ".cache" / f"pyright-{PYRIGHT_VERSION}" / "node_modules" / "pyright" / "index.js"

MISTAKES = """import re

from bridge.sync import Page, expect


def test_mistakes(page: Page) -> None:
    page.get_by_role("buton").click()
    page.goto("/cart", timeout=3000)
    page.click_on("e7")
    expect(page.get_by_label("Name")).to_have_text(7)
    page.get_by_role("button", name=re.compile("^Pay")).click(timeout_s=3)
    with page.expect_download() as info:
        page.click("text=Report")
    info.value.save_as(7)
"""
WRONG_LINES = [7, 8, 9, 10, 14]


def test_mypy_accepts_the_examples_and_finds_mistakes(tmp_path: Path) -> None:
    wrong = tmp_path / "test_mistakes.py"
    wrong.write_text(MISTAKES)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--explicit-package-bases"]
    done = subprocess.run(
        [*mypy, "--no-incremental", *SUITES, wrong], capture_output=True, text=True, cwd=ROOT, check=False
    )
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [int(line.partition(".py:")[2].partition(":")[0]) for line in found] == WRONG_LINES, done.stdout
    assert all("test_mistakes.py" in line for line in found), done.stdout


@pytest.mark.skipif(
    not PYRIGHT.exists() or shutil.which("node") is None,
    reason=f"tools/test installs pyright {PYRIGHT_VERSION} into .cache",
)
def test_pyright_accepts_the_examples_and_finds_mistakes(tmp_path: Path) -> None:
    wrong = tmp_path / "test_mistakes.py"
    wrong.write_text(MISTAKES)
    done = subprocess.run(
        ["node", PYRIGHT, "--outputjson", "--pythonpath", sys.executable, *SUITES, wrong],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found if one["severity"] == "error"
    ]
    assert errors == [("test_mistakes.py", line) for line in WRONG_LINES], done.stdout
