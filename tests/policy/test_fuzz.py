"""The coverage-guided fuzzer: seconds here, longer in CI (BRIDGE_FUZZ_S) and with `tools/fuzz/policy.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = int(os.environ.get("BRIDGE_FUZZ_S", "5"))


@pytest.mark.timeout(SECONDS + 120)
def test_fuzzing_finds_no_violation(tmp_path: Path) -> None:
    if "BRIDGE_FUZZ_S" not in os.environ:  # where it was asked for, it has to be there
        pytest.importorskip("atheris")
    command = [sys.executable, str(ROOT / "tools" / "fuzz" / "policy.py"), f"-max_total_time={SECONDS}", "-max_len=300"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=SECONDS + 90, check=False
    )

    assert done.returncode == 0, done.stderr[-3000:]
    assert "Done " in done.stderr
