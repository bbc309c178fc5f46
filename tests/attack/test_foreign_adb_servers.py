"""Adb servers that somebody else started: another HOME of this user is accepted, another user is named."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.errors import DeviceUnauthorized
from bridge.virtual_device import start_virtual_device
from tests.attack.other_user import NOBODY
from tests.conftest import adb_program
from tests.temp_devices import free_port


@contextmanager
def foreign_server(*, user: int | None = None) -> Iterator[AdbServer]:
    """An adb server with a HOME, and so with keys, of its own."""
    with tempfile.TemporaryDirectory(prefix="adb") as name:
        home, program, port = Path(name), str(shutil.copy(adb_program(), name)), free_port()
        environment = {**os.environ, "HOME": name, "TMPDIR": name}
        for variable in ("ANDROID_USER_HOME", "ANDROID_SDK_HOME", "ADB_VENDOR_KEYS", "ANDROID_ADB_SERVER_PORT"):
            environment.pop(variable, None)
        if user is not None:
            os.chown(home, user, user)
        command = [program, "-P", str(port)]
        subprocess.run([*command, "start-server"], check=True, env=environment, user=user, capture_output=True)
        try:
            yield AdbServer(port=port)
        finally:
            subprocess.run([*command, "kill-server"], check=True, env=environment, capture_output=True)


async def test_an_adb_server_of_this_user_with_another_home_may_use_the_device() -> None:
    with foreign_server() as server:
        async with start_virtual_device(server=server, has_engine=False, timeout_s=60) as handle:
            assert await server.device(handle.serial).state(timeout_s=10) == "device"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can act as another user")
async def test_an_adb_server_of_another_user_is_named_with_the_way_out() -> None:
    with foreign_server(user=NOBODY) as server:
        with pytest.raises(
            DeviceUnauthorized, match=f"the adb server at 127.0.0.1:{server.port} was started"
        ) as refused:
            async with start_virtual_device(server=server, has_engine=False, timeout_s=60):
                pass
        assert "ANDROID_ADB_SERVER_PORT" in refused.value.hint
