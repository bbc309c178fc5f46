"""The server as a process of its own, driven by the SDK's client."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.conftest import LocalServer

PROGRAM = ("-c", "from bridge.surfaces.cli import main; main()", "mcp")
LIMIT_S = 60


@dataclass(frozen=True)
class Address:
    """Where a server is, and what it wants to be sent."""

    url: str
    token: str

    @classmethod
    def said_by(cls, process: subprocess.Popen[str]) -> Address:
        """As its first two lines tell."""
        assert process.stderr is not None
        first, second = process.stderr.readline(), process.stderr.readline()
        assert "serving MCP at " in first, first + second + process.stderr.read()
        return cls(first.split("serving MCP at ")[1].strip(), second.split("Bearer ")[1].split(" ")[0])

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {self.token}"}

    @asynccontextmanager
    async def client(self, *, query: str = "", **more: Any) -> AsyncIterator[Client]:
        """The SDK's client with the token."""
        headers = {"Authorization": self.headers["Authorization"]}
        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300)) as http_client:
            transport = streamable_http_client(self.url + query, http_client=http_client)
            async with Client(transport, **more) as client:
                yield client


class Serving:
    """Starts servers for one test: the test server granted, with a configuration and an environment of their own."""

    def __init__(self, device: str, local: LocalServer, folder: Path) -> None:
        self.folder = folder
        self.local = local
        self.options = ("--device", device, "--local", str(local.port))
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("BRIDGE_")},
            "PYTHONPATH": str(Path.cwd()),
            "BRIDGE_CONFIG": str(folder / "config.toml"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }
        self.configure("")

    def configure(self, toml: str) -> None:
        (self.folder / "config.toml").write_text(toml, encoding="utf-8")

    def command(self, *options: str) -> list[str]:
        return [sys.executable, *PROGRAM, *self.options, *options]

    def parameters(self, *options: str) -> StdioServerParameters:
        program, *arguments = self.command(*options)
        return StdioServerParameters(command=program, args=arguments, env=self.environment)

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*options),
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextmanager
    def http(self, *options: str) -> Iterator[Address]:
        """A server that speaks streamable HTTP."""
        process = self.start("--http", "--port", "0", *options)
        try:
            yield Address.said_by(process)
        finally:
            process.terminate()
            process.communicate(timeout=LIMIT_S)

    @asynccontextmanager
    async def client(self, transport: str, *options: str, **more: Any) -> AsyncIterator[Client]:
        """A client of `stdio` or `http`, in the protocol's era `mode` ("legacy" with a handshake, "auto" without)."""
        if transport == "stdio":
            async with Client(self.parameters(*options), **more) as client:
                yield client
        else:
            with self.http(*options) as address:
                async with address.client(**more) as client:
                    yield client


def text_of(result: CallToolResult) -> str:
    """The words of an answer."""
    return "".join(part.text for part in result.content if part.type == "text")


@pytest.fixture
def serving(webview_device: str, local_server: LocalServer, tmp_path: Path) -> Serving:
    return Serving(webview_device, local_server, tmp_path)
