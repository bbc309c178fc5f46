"""The host app's Java core in a JVM of its own, for the conformance suite."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

APP = Path(__file__).resolve().parents[2] / "android_host_app"
_CORE = "java/dev/webviewbridge/host/core"
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


class JvmHost:
    """See control_wire.Host."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.token = b""
        self.socket_name = ""
        self._process = process
        self._paths: dict[str, str] = {}

    async def start(self, **extras: str) -> None:
        self.token, self.socket_name = secrets.token_bytes(32), f"webview_bridge_{secrets.token_hex(16)}"
        idle = extras.get("idle_timeout_s", "-")
        self._paths[self.socket_name] = await self.ask(f"start {self.socket_name} {self.token.hex()} {idle}")

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
        assert await self.ask(f"happen {url} {what}") == "ok"

    async def be_asked_by(self, uid: int) -> None:
        """From now on peers are taken for processes of that uid."""
        assert await self.ask(f"uid {uid}") == "ok"

    async def ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n".encode())
        async with asyncio.timeout(_TIMEOUT_S):
            return (await self._process.stdout.readline()).decode().strip()


@asynccontextmanager
async def jvm_host(*, idle_timeout_s: float = 300.0) -> AsyncIterator[JvmHost]:
    classes = await asyncio.to_thread(compiled_core)
    with tempfile.TemporaryDirectory(prefix="host-") as folder:
        process = await asyncio.create_subprocess_exec(
            *("java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true", "-cp", str(classes)),
            *("dev.webviewbridge.host.core.JvmHost", folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        try:
            host = JvmHost(process)
            await host.start(idle_timeout_s=str(round(idle_timeout_s)))
            yield host
        finally:
            process.stdin.close()
            try:
                async with asyncio.timeout(_TIMEOUT_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
        assert process.returncode == 0, "the Java core let an exception through"
