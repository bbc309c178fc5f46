"""A virtual device of its own for commands that change what is installed, and the APK."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import InstallFailed
from bridge.host.apk import ready_apk
from bridge.surfaces.cli.app import run
from bridge.virtual_device import DeviceOptions, VirtualDeviceHandle, start_detached, stop_virtual_device

Command = Callable[..., tuple[int, str, str]]


@contextmanager
def detached_device(adb_port: int, **options: Any) -> Iterator[VirtualDeviceHandle]:
    name = f"doctors-{secrets.token_hex(3)}"
    device = DeviceOptions(name=name, adb_port=adb_port, is_detached=True, **options)
    handle = asyncio.run(start_detached(device, timeout_s=60))
    try:
        yield handle
    finally:
        asyncio.run(stop_virtual_device(handle))


@pytest.fixture(scope="module")
def device(adb_port: int) -> Iterator[VirtualDeviceHandle]:
    with detached_device(adb_port) as handle:
        yield handle


@pytest.fixture(scope="session")
def apk() -> Path:
    try:
        return asyncio.run(ready_apk(print, timeout_s=300))
    except InstallFailed as error:
        pytest.skip(f"no APK, and it cannot be built here: {error}")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs one command line; exit code, stdout, stderr."""

    def go(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return go


@pytest.fixture
def answer(command: Command) -> Callable[..., dict[str, Any]]:
    """Runs one command line with --json that must succeed; its object."""

    def go(*arguments: str) -> dict[str, Any]:
        code, out, err = command(*arguments, "--json")
        assert code == 0, out + err
        found: dict[str, Any] = json.loads(out)
        assert found["ok"] is True
        return found

    return go
