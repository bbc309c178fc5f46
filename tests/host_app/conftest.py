"""The build tool as a module, and what it makes."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def build_tool() -> ModuleType:
    for program in ("javac", "mvn", "zipalign", "apksigner"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}; as root on Debian, tools/test installs it")
    spec = importlib.util.spec_from_file_location("build_host_app", ROOT / "tools" / "build_host_app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def apk(build_tool: ModuleType) -> Path:
    assert build_tool.main([]) == 0
    output: Path = build_tool.DEFAULT_OUTPUT
    return output
