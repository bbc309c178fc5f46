"""The coverage-guided fuzzer in the form of CI: a minute. `python tools/fuzz/policy.py` runs longer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_minute_of_fuzzing_breaks_no_law(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    command = [sys.executable, str(ROOT / "tools" / "fuzz" / "policy.py"), "-max_total_time=60", "-max_len=300"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=150, check=False)

    assert done.returncode == 0, done.stderr[-3000:]
