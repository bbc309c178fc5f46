"""The tools we are compared with: exact versions, installed beside the project and never among its dependencies."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from tools.benchmarks.measuring import Aborted, NotMeasured

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".cache" / "benchmarks"
PROGRAMS = Path(__file__).parent / "peer_programs"
FROM_NPM = {"agent-browser": "0.41.2", "playwright-core": "1.65.1"}
FROM_PYPI = {
    "html2text": "2025.4.15",
    "markdownify": "1.2.3",
    "pychrome": "0.2.4",
    "readability-lxml": "0.9",
    "trafilatura": "2.3.1",
}
LIMIT_S = 120.0
_INSTALL_S = 600.0


class PeerMissing(NotMeasured):
    """A peer could not be installed, so nothing is compared with it."""


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Two runs must not install over each other."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def node_modules(home: Path = HOME) -> Path:
    """Where the npm peers are, installed when they are not.

    Raises:
        PeerMissing: npm is missing or failed.
    """
    folder = home / "npm"
    wanted = json.dumps({"private": True, "dependencies": FROM_NPM})
    stamp = folder / "installed.json"
    with _alone(home):
        if not (stamp.is_file() and stamp.read_text() == wanted):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text(wanted)
            npm = shutil.which("npm")
            if npm is None:
                raise PeerMissing(f"{', '.join(FROM_NPM)} come from npm, which is not here: install Node.js")
            _say(f"npm: installing {_listed(FROM_NPM, '@')} into {folder}")
            _install([npm, "install", "--no-audit", "--no-fund", "--no-package-lock"], folder)
            stamp.write_text(wanted)
    return folder / "node_modules"


def python_with_peers(home: Path = HOME) -> Path:
    """The interpreter of a virtual environment with the PyPI peers and what our own package needs.

    Raises:
        PeerMissing: pip failed.
    """
    folder = home / "venv"
    python = folder / "bin" / "python"
    ours = (ROOT / "tools" / "constraints.txt").read_text(encoding="utf-8").partition("# For tests and checks")[0]
    wanted = f"{_listed(FROM_PYPI, '==')}\n{sys.version}\n{ours}"
    stamp = folder / "installed.txt"
    with _alone(home):
        if not (stamp.is_file() and stamp.read_text() == wanted):
            _say(f"pip: installing {_listed(FROM_PYPI, '==')} into {folder}")
            try:
                venv.create(folder, with_pip=True, clear=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise PeerMissing(f"no virtual environment for the peers could be made: {error}") from error
            requirements = folder / "ours.txt"
            requirements.write_text(ours)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            # The pip that comes with Python 3.11 fails on readability-lxml's extras.
            _install([*pip, "--upgrade", "pip"], folder)
            _install([*pip, "--require-hashes", "-r", str(requirements)], folder)
            _install([*pip, *(f"{name}=={version}" for name, version in FROM_PYPI.items())], folder)
            stamp.write_text(wanted)
    return python


def _install(command: list[str], folder: Path) -> None:
    environ = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}
    try:
        subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True, timeout=_INSTALL_S)
    except subprocess.CalledProcessError as error:
        words = error.stderr.decode(errors="replace").strip()[-300:]
        raise PeerMissing(f"{Path(command[0]).name} could not install the peers: {words}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerMissing(f"{Path(command[0]).name} could not install the peers: {error}") from error


def _listed(versions: Mapping[str, str], between: str) -> str:
    return ", ".join(f"{name}{between}{version}" for name, version in versions.items())


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Conversation:
    """A peer's program that answers each line of JSON with one."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self._name = name
        self._process = process

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Raises Aborted where the peer gave up or said nothing in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), LIMIT_S)
        except TimeoutError as error:
            raise Aborted(f"{self._name} did not answer {request} in {LIMIT_S:g} s") from error
        found: dict[str, Any] = json.loads(line or b'{"error": "its program ended"}')
        if "error" in found:
            raise Aborted(f"{self._name}: {found['error']}")
        return found

    async def timed(self, request: Mapping[str, Any]) -> float:
        """The milliseconds that the peer measured around its own call."""
        return float((await self.ask(request))["ms"])


@asynccontextmanager
async def conversation(name: str, *command: str | os.PathLike[str]) -> AsyncIterator[Conversation]:
    process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, limit=64 * 1024 * 1024)
    try:
        yield Conversation(name, process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@asynccontextmanager
async def playwright(port: int) -> AsyncIterator[Conversation]:
    """playwright-core, connected over CDP to the page behind a forwarded port."""
    program = PROGRAMS / "playwright.cjs"
    async with conversation("Playwright", "node", program, node_modules(), f"http://127.0.0.1:{port}") as talk:
        await talk.ask({"do": "connect"})
        yield talk


@asynccontextmanager
async def pychrome(port: int) -> AsyncIterator[Conversation]:
    """pychrome, connected to the page behind a forwarded port."""
    async with conversation("pychrome", python_with_peers(), PROGRAMS / "pychrome_calls.py", str(port)) as talk:
        await talk.ask({"do": "connect"})
        yield talk


class AgentBrowser:
    """agent-browser's program, with a daemon of its own; made by `agent_browser`."""

    def __init__(self) -> None:
        self._program = node_modules() / ".bin" / "agent-browser"
        self._environ = {**os.environ, "AGENT_BROWSER_SESSION": f"bench-{os.getpid()}"}

    async def run(self, *arguments: str, stdin: bytes | None = None) -> tuple[float, str]:
        """Milliseconds and what it printed."""
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            self._program, *arguments, env=self._environ, stdin=-1 if stdin is not None else -3, stdout=-1, stderr=-1
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(stdin), LIMIT_S)
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise Aborted(f"agent-browser {' '.join(arguments)} took more than {LIMIT_S:g} s") from error
        if process.returncode:
            raise Aborted(f"agent-browser {' '.join(arguments)}: {(out + err).decode(errors='replace')[:300]}")
        return (time.perf_counter() - began) * 1000, out.decode(errors="replace")

    async def timed(self, *arguments: str) -> tuple[float, str]:
        """As `run`, less the time of a call that asks for nothing: a program per call, with a daemon behind it."""
        nothing_ms, _ = await self.run("get", "url")
        whole_ms, text = await self.run(*arguments)
        return max(0.0, whole_ms - nothing_ms), text


@asynccontextmanager
async def agent_browser(port: int) -> AsyncIterator[AgentBrowser]:
    agent = AgentBrowser()
    await agent.run("connect", str(port))
    try:
        yield agent
    finally:
        await agent.run("close")
