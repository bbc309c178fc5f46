"""The host app's Java core on a JVM, for the conformance suite: one JVM for all tests, a core of its own for each."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import itertools
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

APP = Path(__file__).resolve().parents[2] / "android_host_app"
_CORE = "java/dev/webviewbridge/host/core"
_MAIN = "dev.webviewbridge.host.core.JvmHost"
_TIMEOUT_S = 20.0


def compiled_core() -> Path:
    """The folder with the classes of the core and of its JVM stand-ins; compiled when the sources have changed."""
    if shutil.which("javac") is None:
        pytest.skip("needs a JDK 17 (Debian: openjdk-17-jdk-headless); tools/test installs it")
    sources = sorted(path for kind in ("main", "test") for path in (APP / "app/src" / kind / _CORE).glob("*.java"))
    # What uses JUnit is compiled by tests/host_app, which has it.
    sources = [path for path in sources if not path.name.endswith("Test.java")]
    digest = hashlib.sha256(b"\0".join(str(path).encode() + path.read_bytes() for path in sources)).hexdigest()
    classes = APP / "build" / "core-on-jvm" / digest[:16]
    classes.parent.mkdir(parents=True, exist_ok=True)
    with (classes.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not classes.exists():
            with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
                made = Path(scratch) / "classes"
                subprocess.run(
                    ["javac", "-proc:none", "-d", made, *sources], check=True, capture_output=True, text=True
                )
                made.rename(classes)
    return classes


class Jvm:
    """The process. One line in, one line out, so that it belongs to no event loop."""

    def __init__(self, classes: Path) -> None:
        self._process = subprocess.Popen(
            ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true", "-cp", classes, _MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._turn = threading.Lock()
        self._cores = itertools.count(1)

    def new_name(self) -> str:
        return f"h{next(self._cores)}"

    async def ask(self, line: str) -> str:
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                answer = await asyncio.to_thread(self._ask, line)
        except TimeoutError:
            self._process.kill()  # or the thread would wait for ever
            raise
        assert answer, f"the Java core let an exception through at {line!r}"
        return answer.strip()

    def _ask(self, line: str) -> str:
        with self._turn:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            return self._process.stdout.readline()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            code = self._process.wait(_TIMEOUT_S)
        finally:
            self._process.kill()
        assert code == 0, "the Java core let an exception through"


class JvmHost:
    """See control_wire.Host."""

    def __init__(self, jvm: Jvm, name: str) -> None:
        self.token = b""
        self.socket_name = ""
        self._jvm = jvm
        self._name = name
        self._paths: dict[str, str] = {}

    async def start(self, **extras: str) -> None:
        self.token, self.socket_name = secrets.token_bytes(32), f"webview_bridge_{secrets.token_hex(16)}"
        idle = extras.get("idle_timeout_s", "-")
        started = f"start {self._name} {self.socket_name} {self.token.hex()} {idle}"
        self._paths[self.socket_name] = await self._jvm.ask(started)

    async def connect(self, name: str) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.setblocking(False)
            await asyncio.get_running_loop().sock_connect(sock, self._paths[name])
        except BaseException:
            sock.close()
            raise
        return sock

    async def happen(self, url: str, what: str) -> None:
        assert await self._jvm.ask(f"happen {self._name} {url} {what}") == "ok"


@contextmanager
def running_jvm() -> Iterator[Jvm]:
    jvm = Jvm(compiled_core())
    try:
        yield jvm
    finally:
        jvm.end()


@asynccontextmanager
async def jvm_host(jvm: Jvm, *, idle_timeout_s: float = 300.0) -> AsyncIterator[JvmHost]:
    name = jvm.new_name()
    with tempfile.TemporaryDirectory(prefix="host-") as folder:
        assert await jvm.ask(f"open {name} {folder}") == "ok"
        try:
            host = JvmHost(jvm, name)
            await host.start(idle_timeout_s=str(round(idle_timeout_s)))
            yield host
        finally:
            await jvm.ask(f"close {name}")
