"""Every code block of the READMEs and the documentation runs as it is written.

A block's first line says what it is: ```sh or ```python, with the word `browser` where it needs one; ```text is a
drawing. Blocks run in an empty folder; `tools/` and `bridge/` in a shell block are those of this repository. The other
kinds (a test, a configuration, a client's configuration, the script by hand) are run by test_readme_examples.py.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.host.user_agent import NEWEST_WEBVIEW
from bridge.session import OLDEST_WEBVIEW
from tests.temp_devices import free_port

ROOT = Path(__file__).resolve().parents[2]
READMES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted(ROOT.glob("*/README.md")),
    *(file for top in ("bridge", "tests", "tools") for file in sorted((ROOT / top).glob("*/**/README.md"))),
]
_BLOCK = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_ELSEWHERE = {("python", ("pytest",)), ("python", ("evaluate",)), ("json", ()), ("toml", ())}


@dataclass(frozen=True)
class Block:
    where: str
    language: str
    words: tuple[str, ...]
    code: str


def blocks() -> list[Block]:
    found = []
    for readme in READMES:
        text = readme.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            where = f"{readme.relative_to(ROOT)}:{line}"
            found.append(Block(where, match[1], tuple(match[2].split()), match[3]))
    return found


def parameters() -> list[object]:
    return [
        pytest.param(
            block,
            id=block.where,
            # The shell blocks go through tools/run, whose demonstration needs a browser too.
            marks=[pytest.mark.browser] if "browser" in block.words or "tools/run" in block.code else [],
        )
        for block in blocks()
        if block.language in ("sh", "python") and set(block.words) <= {"browser"}
    ]


@pytest.fixture
def own_sessions() -> Iterator[Path]:
    """Sessions that other tests or the user keep are not seen from here; a socket's path is short."""
    with tempfile.TemporaryDirectory(prefix="wvb-") as folder:
        yield Path(folder)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("block", parameters())
def test_the_block_runs(block: Block, tmp_path: Path, adb_port: int, own_sessions: Path) -> None:
    if block.language == "python":
        command = [sys.executable, "-c", block.code]
    else:
        code = re.sub(r"(?<![\w./])(tools|bridge)/", rf"{ROOT}/\1/", block.code).replace("8000", str(free_port()))
        command = [shutil.which("bash") or "bash", "-euo", "pipefail", "-c", code]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "ANDROID_ADB_SERVER_PORT": str(adb_port),
            "XDG_RUNTIME_DIR": str(own_sessions),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=280)
        finally:
            # What the block started in the background, where it failed before it ended that itself.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    assert process.returncode == 0, output[-5000:]


@pytest.mark.parametrize("block", [pytest.param(block, id=block.where) for block in blocks()])
def test_every_block_says_what_it_is(block: Block) -> None:
    kinds = {("sh", ()), ("python", ()), ("text", ()), *RUN_ELSEWHERE}
    assert (block.language, tuple(word for word in block.words if word != "browser")) in kinds


@pytest.mark.parametrize("readme", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_to_a_file_leads_somewhere(readme: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", readme.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (readme.parent / target).exists(), target


def test_the_newest_webview_is_the_one_that_the_documentation_calls_verified() -> None:
    table = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    assert f"(Chromium {NEWEST_WEBVIEW}, " in table
    assert f"{OLDEST_WEBVIEW}–{NEWEST_WEBVIEW} " in table


def test_the_documentation_names_every_command() -> None:
    from bridge.surfaces.cli.app import all_commands

    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name in all_commands():
        assert f"`{name}" in text, name
