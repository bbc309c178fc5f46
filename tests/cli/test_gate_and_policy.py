"""`gate` and `policy check`: the policy for any HTTP client, and what it says of an address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import LocalServer

PROGRAM = (sys.executable, "-c", "from bridge.surfaces.cli import main; main()")
LIMIT_S = 30


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Without the settings of whoever runs the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("BRIDGE_")}
    return {**kept, "PYTHONPATH": str(Path.cwd()), "XDG_CONFIG_HOME": str(tmp_path)}


@contextmanager
def gate(environment: dict[str, str], *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*PROGRAM, "gate", *options], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=LIMIT_S)


def test_the_gate_applies_the_policy_to_any_http_client_and_reports_each_connection(
    environment: dict[str, str], local_server: LocalServer
) -> None:
    with gate(environment, "--json", "--audit", "--local", str(local_server.port)) as (process, first):
        told = json.loads(first)
        assert (told["ok"], told["command"]) == (True, "gate")
        with httpx.Client(proxy=told["url"], timeout=LIMIT_S) as client:
            assert client.get(local_server.url("second.html")).status_code == 200
            for url in ("http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://0x7f.1:8/"):
                refused = client.get(url)
                assert (refused.status_code, refused.headers["X-Webview-Bridge"]) == (403, "policy_refused")
            with pytest.raises(httpx.ProxyError, match="403"):
                client.get("https://10.0.0.1/")
        process.send_signal(signal.SIGINT)
        audit, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    lines = [json.loads(line) for line in audit.splitlines()]
    assert [(line["host"], line["decision"].partition(" ")[0]) for line in lines] == [
        ("127.0.0.1", "allow"),
        ("127.0.0.1", "deny"),
        ("169.254.169.254", "deny"),
        ("127.0.0.1", "deny"),
        ("10.0.0.1", "deny"),
    ]
    assert lines[0]["bytes_received"] > 100


def test_a_port_that_is_taken_is_bad_usage(environment: dict[str, str], local_server: LocalServer) -> None:
    done = subprocess.run(
        [*PROGRAM, "gate", "--port", str(local_server.port)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot listen" in done.stderr


def checked(environment: dict[str, str], *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*PROGRAM, "policy", "check", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_policy_check_gives_the_decision_and_reason_for_each_address(environment: dict[str, str]) -> None:
    code, said = checked(environment, "http://0x7f.1:8080/a", "--explain")
    assert code == 4
    assert said.startswith("refused ")
    assert "loopback" in said
    assert "[range:loopback; http://127.0.0.1:8080/a]" in said
    assert "--local 8080" in said
    assert checked(environment, "http://127.0.0.1:8080/", "--local", "8080")[0] == 0


def test_a_refusal_for_a_model_names_the_setting_that_would_allow_it(environment: dict[str, str]) -> None:
    url = "https://93.184.216.34/"
    assert checked(environment, url)[0] == 0
    code, said = checked(environment, url, "--as", "model")
    assert code == 4
    assert 'allowed_origins = ["93.184.216.34"]' in said
    code, said = checked(environment, url, "--as", "model", "--allow", "93.184.216.34", "--explain")
    assert (code, said.startswith("allowed ")) == (0, True)
    assert "-> 93.184.216.34" in said


def test_no_flag_of_the_operators_opens_what_is_always_refused(environment: dict[str, str]) -> None:
    for url in ("http://169.254.169.254/", "file:///etc/passwd", "http://metadata.google.internal/", "javascript:1"):
        assert checked(environment, url, "--allow", "*", "--default-action", "allow")[0] == 4
        assert checked(environment, url)[0] == 4


def test_a_check_finds_the_mistakes_of_the_whole_file_and_says_that_it_would_ask(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert "asks before it opens" in checked(environment, "https://93.184.216.34/", "--default-action", "ask")[1]
    (tmp_path / "webview-bridge").mkdir()
    (tmp_path / "webview-bridge" / "config.toml").write_text('[browser.actions]\ndenny = ["file"]\n')
    assert checked(environment, "https://93.184.216.34/")[0] == 2
