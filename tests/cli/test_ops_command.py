"""`ops` as a program in a pipe: lines in, lines out, exit codes."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.surfaces.cli.lines import LineCutter, TooLong, lines_of
from tests.conftest import LocalServer

COMMAND = [sys.executable, "-c", "from bridge.surfaces.cli import main; main()", "ops"]


def answered(
    lines: str | bytes, *arguments: str, environ: dict[str, str] | None = None
) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, answers, stderr."""
    given = lines.encode() if isinstance(lines, str) else lines
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=given,
        capture_output=True,
        timeout=110,
        check=False,
        env={**os.environ, **(environ or {})},
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


@given(st.lists(st.binary(max_size=12)), st.lists(st.integers(0, 60)))
def test_lines_do_not_depend_on_how_their_bytes_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"\n".join(lines)
    bounds = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    cutter, found = LineCutter(8), []
    for start, end in itertools.pairwise(bounds):
        found += list(cutter.feed(stream[start:end]))
    found += list(cutter.end())
    parts = stream.split(b"\n")
    assert found == [TooLong(8) if len(part) > 8 else part.strip() for part in parts]


async def test_a_reader_that_stops_early_leaves_nothing_that_waits() -> None:
    near, far = os.pipe()
    try:
        os.write(far, b"one\ntwo\nthree\n")
        lines = lines_of(near, limit_bytes=100)
        assert await asyncio.wait_for(anext(lines), 5) == b"one"
        await lines.aclose()
    finally:
        os.close(far)


@pytest.mark.browser
def test_each_line_is_answered_and_bad_ones_do_not_end_it(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    events, uploads = tmp_path / "events.jsonl", tmp_path / "up"
    uploads.mkdir()
    lines = [
        json.dumps({"kind": "navigate", "url": local_server.url("shop.html")}),
        "no JSON",
        "",
        json.dumps({"kind": "evaluate", "code": "1"}),
        "x" * 3_000_000,
        json.dumps({"kind": "screenshot"}),
        json.dumps({"kind": "get_state"}),
    ]
    options = ["--device", webview_device, "--local", str(local_server.port), "--screenshots", str(tmp_path)]
    code, answers, err = answered("\n".join(lines), *options, "--events", str(events), "--uploads-root", str(uploads))

    assert code == 1, err
    assert [(answer["line"], answer["ok"]) for answer in answers] == [
        (1, True),
        (2, False),
        (4, False),
        (5, False),
        (6, True),
        (7, True),
    ]
    assert "more than 2097152 bytes" in answers[3]["error"]["message"]
    assert Path(answers[4]["file"]).read_bytes().startswith(b"\x89PNG")
    mark, title, end = answers[5]["result"]["title"].splitlines()
    assert (mark.startswith("<page-content "), title, end.startswith("</page-content ")) == (True, "Gold prices", True)
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [(event["event"], event["sequence"], event["kind"]) for event in told] == [
        ("operation", 1, "navigate"),
        ("operation", 2, "screenshot"),
        ("operation", 3, "get_state"),
    ]


@pytest.mark.browser
def test_without_a_policy_a_model_opens_nothing_and_the_error_names_the_setting(webview_device: str) -> None:
    line = json.dumps({"kind": "navigate", "url": "https://shop.example/"})
    code, answers, err = answered(f"{line}\n{line}", "--device", webview_device, "--bail")

    assert code == 4, err
    assert len(answers) == 1
    assert 'allowed_origins = ["shop.example"]' in answers[0]["error"]["hint"]


@pytest.mark.browser
def test_without_a_terminal_a_confirmation_is_not_recorded_as_refused(webview_device: str) -> None:
    line = json.dumps({"kind": "navigate", "url": "https://shop.example/"})
    code, answers, err = answered(line, "--device", webview_device, "--default-action", "ask")

    assert code == 4, err
    assert "no confirmation was received" in answers[0]["error"]["message"]


@pytest.mark.browser
def test_the_policy_that_is_configured_holds_and_actions_may_be_denied(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[browser.policy]\nallowed_origins = ["a.example"]\n[browser.actions]\ndeny = ["navigate"]\n')
    line = json.dumps({"kind": "navigate", "url": local_server.url("shop.html")})
    options = ["--device", webview_device, "--local", str(local_server.port)]
    code, answers, err = answered(line, *options, environ={"BRIDGE_CONFIG": str(config)})

    assert code == 4, err
    assert "its effect is navigate" in answers[0]["error"]["message"]


@pytest.mark.parametrize(
    ("config", "arguments"),
    [
        ("[browser.policy]\nallow = 1", []),
        ("[browser.actions]\ndeny = ['everything']", []),
        ("", ["--secret", "password=NO_SUCH_VARIABLE"]),
        ("", ["--secret", "password"]),
        ("", ["--screenshots", "/no/such/folder"]),
        ("", ["--allow", "10.0.0.1"]),
    ],
)
def test_a_mistake_in_the_operators_options_stops_the_start(config: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(config)
    environ = {"BRIDGE_CONFIG": str(tmp_path / "config.toml")}
    code, answers, err = answered('{"kind": "get_state"}', "--device", "none-such", *arguments, environ=environ)

    assert (code, answers) == (2, [])
    assert err.startswith("bad_usage: ")


@pytest.mark.browser
def test_ctrl_c_ends_it_at_once_although_the_input_goes_on(webview_device: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "--device", webview_device], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"kind": "new_tab"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["ok"]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


@pytest.mark.browser
def test_a_trace_has_what_was_done_and_no_secret(
    webview_device: str, local_server: LocalServer, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.html"
    lines = [
        json.dumps({"kind": "navigate", "url": local_server.url("shop.html")}),
        json.dumps({"kind": "snapshot"}),
        json.dumps({"kind": "fill", "ref": "e5", "value": "secret:PASSWORD"}),
    ]
    options = ["--device", webview_device, "--local", str(local_server.port), "--secret", "PASSWORD=SHOP_PASSWORD"]

    code, answers, _ = answered(
        "\n".join(lines), *options, "--trace", str(trace), environ={"SHOP_PASSWORD": "hunter-2-and-3"}
    )

    assert code == 0, [answer.get("error") or answer["result"].get("text") for answer in answers]
    written = trace.read_text(encoding="utf-8")
    assert "shop.html" in written
    assert "hunter-2-and-3" not in written + json.dumps(answers)
