"""DNS rebinding over real DNS: the system's resolver and a test name server on port 53, in namespaces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMESPACES = ["unshare", "--map-root-user", "--mount", "--net"]


def test_answers_of_the_system_resolver_are_checked(tmp_path: Path) -> None:
    if sys.platform != "linux" or subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces cannot be made here")
    script = ROOT / "tests" / "policy" / "scripted_dns.py"
    command = [*NAMESPACES, sys.executable, str(script), str(tmp_path / "resolv.conf")]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr

    found = json.loads(done.stdout)
    assert found["rebinds.example"] == found["again"] == ["93.184.216.34"]
    assert found["asked"] == 1  # though its time to live is 0
    assert found["alias.example"] == "alias.example is refused: it resolves to 10.0.0.7 (a private address)"
    assert found["mixed.example"] == "mixed.example is refused: it resolves to 10.0.0.7 (a private address)"
    assert found["six.example"] == ["2606:4700:4700::1111"]
    assert found["inside6.example"].startswith("inside6.example is refused: it resolves to fd00::7")
    words = "DNS rebinding refused: rebinds.example resolved to 10.0.0.7, first-seen resolve was 93.184.216.34"
    assert found["when it died"] == words
    assert found["dialled"] == ["93.184.216.34"]
