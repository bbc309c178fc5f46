"""The comparison with Playwright's names: committed, complete, and true of the classes as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.playwright_names import rows

ROOT = Path(__file__).parent.parent.parent


def test_every_name_of_playwright_is_here_or_has_a_reason() -> None:
    table = rows()
    assert len(table) > 350
    assert [key for key, state, reason in table if state != "same" and not reason] == []


def test_the_published_table_is_up_to_date() -> None:
    subprocess.run([sys.executable, "tools/playwright_names.py", "--check"], check=True, cwd=ROOT)


def test_no_reason_is_left_for_a_name_that_is_here() -> None:
    """A reason outlives its name when the name is built; the error message and the table would contradict the class."""
    from bridge.page.not_here import DIFFERENT, NOT_HERE

    table = {key: state for key, state, _ in rows()}
    assert [key for key in NOT_HERE if table.get(key) in ("same", "different")] == []
    assert [key for key in DIFFERENT if table.get(key) != "different"] == []
