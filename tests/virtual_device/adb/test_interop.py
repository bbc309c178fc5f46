"""A client that nobody here wrote, pure-python-adb, drives the device as it drives phones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ppadb.client import Client

from bridge.adb import AdbServer
from bridge.virtual_device.process.client import VirtualDeviceHandle

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def phone(adb_server: AdbServer, handle: VirtualDeviceHandle):  # type: ignore[no-untyped-def]
    return Client(host="127.0.0.1", port=adb_server.port).device(handle.serial)


def test_it_runs_shell_commands(phone) -> None:  # type: ignore[no-untyped-def]
    assert phone.shell("echo hello") == "hello\n"
    assert phone.get_properties()["ro.build.version.sdk"] == "34"


def test_it_pushes_and_pulls(phone, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    body = os.urandom(700_000)
    (tmp_path / "in").write_bytes(body)
    phone.push(str(tmp_path / "in"), "/sdcard/ppadb")
    phone.pull("/sdcard/ppadb", str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == body


def test_it_installs_and_uninstalls(phone) -> None:  # type: ignore[no-untyped-def]
    assert phone.install(str(DATA / "sample-1.apk"))
    assert phone.is_installed("org.example.sample")
    assert phone.uninstall("org.example.sample")


def test_it_forwards(phone) -> None:  # type: ignore[no-untyped-def]
    """Its reverse sends `forward:tcp:1:tcp:2` with a colon where adb has a semicolon, so it fails on phones too."""
    phone.forward("tcp:23451", "localabstract:nobody")
    assert phone.list_forward() == {"tcp:23451": "localabstract:nobody"}
    phone.killforward_all()
    assert phone.list_forward() == {}
