"""The measures of the code's structure, on small trees that are written for the purpose."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def metrics() -> ModuleType:
    spec = importlib.util.spec_from_file_location("code_metrics", ROOT / "tools" / "code_metrics.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source(metrics: ModuleType, root: Path, modules: dict[str, str]) -> object:
    for name, text in modules.items():
        path = root / "bridge" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return metrics.Source(root)


def test_floors_and_arrows_follow_imports_that_run(metrics: ModuleType, tmp_path: Path) -> None:
    tree = source(
        metrics,
        tmp_path,
        {
            "page/top": "from bridge.page.middle import a\nfrom bridge.page import low\n",
            "page/middle": "def a():\n    from bridge.page.low import b\n",
            "page/low": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bridge.page.top import c\n",
            "other": "from bridge.page.low import b\n",
        },
    )
    imports = metrics.imports_inside(tree, "bridge.page")
    assert imports["bridge.page.top"] == {"bridge.page.middle", "bridge.page.low"}
    assert imports["bridge.page.low"] == set()
    assert metrics.floors(imports) == 3
    assert metrics.one_importer(imports) == 1


def test_only_programs_count_as_javascript(metrics: ModuleType, tmp_path: Path) -> None:
    program = 'RUN = """(el => {\n  const box = el.getBoundingClientRect();\n  return box.top})"""\n'
    call = "CALL = f'__agentBrowser.settle({1})'\n"
    docstring = '"""Runs `el => el.value` in the page."""\n'
    assert metrics.javascript_lines(source(metrics, tmp_path, {"scripts": docstring + program + call})) == 3


def test_code_lines_leave_out_blank_lines_comments_and_docstrings(metrics: ModuleType, tmp_path: Path) -> None:
    text = (
        '"""A module.\n\nOf two lines.\n"""\n\n# a comment\nx = 1\n\n\ndef f():\n    """A function."""\n    return x\n'
    )
    assert metrics.code_lines(source(metrics, tmp_path, {"module": text})) == 3


def test_names_protocols_and_words_are_counted(metrics: ModuleType, tmp_path: Path) -> None:
    first = 'class Frame:\n    """What a page told."""\n\n\nclass Sender(Protocol):\n    """Sends."""\n'
    second = 'class Frame:\n    """A frame."""\n\n\nERROR = "it is no frame"\n'
    tree = source(metrics, tmp_path, {"first": first, "second": second})
    assert metrics.class_names_used_twice(tree) == "1 (Frame)"
    assert metrics.protocols(tree) == 1
    assert metrics.relative_docstrings(tree) == "1 of 3"
    assert metrics.is_no(tree) == "1, 1 in strings"


def test_the_package_stays_within_its_bounds(metrics: ModuleType) -> None:
    found = metrics.measures(ROOT)
    assert found["class names used twice"] == "0"
    assert int(found["Protocol classes"]) < 15
    assert int(found["lines of JavaScript in Python strings"]) < 20
    assert int(found["modules in the largest folder"].split()[0]) <= 16
    assert found["docstrings that open with a relative clause"].startswith("0 of ")
    assert found['"told", "tell", "tells", "telling"'] == "0"
    assert found['"is no …", "are no …", "was no …"'].endswith(", 0 in strings")
