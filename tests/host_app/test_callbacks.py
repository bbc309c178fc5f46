"""CALLBACKS.md against the sources: what the app overrides has a row, and each row's tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "android_host_app"
MAIN = APP / "app" / "src" / "main" / "java" / "dev" / "webviewbridge" / "host"
TESTS = APP / "app" / "src" / "test" / "java" / "dev" / "webviewbridge" / "host"


def rows() -> list[list[str]]:
    lines = (APP / "CALLBACKS.md").read_text().splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert table[0] == ["callback", "the app", "the virtual device", "Java", "Python"]
    return table[2:]


def overridden() -> set[str]:
    """The callbacks that the app implements, and that of its download listener."""
    found = {"onDownloadStart"} if "setDownloadListener(" in (MAIN / "WebViewTab.java").read_text() else set()
    for name in ("PageChrome.java", "PageClient.java"):
        found |= set(re.findall(r"@Override\s+public \w+ (\w+)\(", (MAIN / name).read_text()))
    return found


def test_each_callback_of_the_app_has_a_row_and_no_other_claims_to_be_one() -> None:
    named = {row[0].split(",")[0] for row in rows() if not row[1].startswith("not overridden")}
    callbacks = {name for name in named if re.fullmatch(r"\w+", name)}
    assert callbacks - {"onLongClick"} == overridden()
    not_overridden = {row[0] for row in rows() if row[1].startswith("not overridden")}
    assert not (not_overridden & overridden())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_the_tests_of_a_row_exist(row: list[str]) -> None:
    _, _, _, java, python = row
    if java != "-":
        sources = "".join((TESTS / f"{name}.java").read_text() for name in ("CallbacksTest", "HostServiceTest"))
        assert f"public void {java}()" in sources
    if python != "-":
        path, _, name = python.partition("::")
        assert re.search(rf"def {name}\(", (ROOT / path).read_text())


def test_each_callback_of_the_app_has_a_java_test() -> None:
    assert [row[0] for row in rows() if row[0].split(",")[0] in overridden() and row[3] == "-"] == []
