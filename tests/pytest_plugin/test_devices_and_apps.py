"""Every attached device, and the user's own app, as a project asks for them on its command line."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.virtual_device import DeviceOptions, VirtualDeviceHandle, start_detached, stop_virtual_device
from tests.pytest_plugin.conftest import Project

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SAMPLE_APP = Path(__file__).parent.parent / "virtual_device" / "data" / "sample-1.apk"


@pytest.fixture(scope="module")
def attached(adb_port: int) -> Iterator[tuple[VirtualDeviceHandle, VirtualDeviceHandle]]:
    """Two devices that belong to nobody's session, as phones do."""

    async def started() -> list[VirtualDeviceHandle]:
        names = [f"attached-{secrets.token_hex(3)}" for _ in range(2)]
        return [
            await start_detached(DeviceOptions(name=name, adb_port=adb_port, is_detached=True), timeout_s=60)
            for name in names
        ]

    async def stopped(handles: list[VirtualDeviceHandle]) -> None:
        for handle in handles:
            await stop_virtual_device(handle)

    handles = asyncio.run(started())
    try:
        yield handles[0], handles[1]
    finally:
        asyncio.run(stopped(handles))


def test_all_runs_every_test_once_on_each_attached_device(
    project: Project, attached: tuple[VirtualDeviceHandle, VirtualDeviceHandle]
) -> None:
    project.write("pages/index.html", "<title>Here</title><h1>Here</h1>")
    project.write(
        "test_one.py",
        "def test_one(page, webview_device, local_server, record_property):\n"
        "    record_property('serial', webview_device)\n"
        "    assert page.goto(local_server.url('index.html')).title == 'Here'\n"
        "def test_without_a_device():\n    pass\n",
    )

    run = project.run("--webview-device=all", "-n", "2", "--dist", "loadgroup")

    assert "3 passed" in run.output, run.output
    for handle in attached:
        # pytest-xdist writes a test's group behind its name.
        names = [name for name in run.names() if name.startswith(f"test_one[{handle.serial}]")]
        assert [run.properties(name)["serial"] for name in names] == [handle.serial], run.output
        assert f"webview device: {handle.serial} (virtual" in run.output


def test_a_test_of_ones_own_app_has_the_apps_page(
    project: Project, attached: tuple[VirtualDeviceHandle, VirtualDeviceHandle], adb_port: int
) -> None:
    serial = attached[0].serial
    asyncio.run(AdbServer("127.0.0.1", adb_port).device(serial).install(SAMPLE_APP, timeout_s=60))
    project.write("pages/index.html", "<title>In the app</title><button>Pay</button>")
    project.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.fixture\n"
        "def webview_session_options(local_server):\n"
        "    return {'activity': '.Main', 'data': local_server.url('index.html')}\n",
    )
    project.write(
        "test_app.py",
        "def test_the_app(page, webview_session):\n"
        "    assert webview_session.app.package == 'org.example.sample'\n"
        "    page.get_by_role('button', name='Pay').click()\n"
        "    assert page.snapshot().title == 'In the app'\n"
        "async def test_the_app_failing(page):\n"
        "    assert (await page.snapshot()).title == 'Elsewhere'\n",
    )

    run = project.run(f"--webview-device={serial}", "--webview-app=org.example.sample")

    assert "1 failed, 1 passed" in run.output, run.output
    bundle = project.folder / run.properties("test_the_app_failing")["webview_artifacts"]
    assert 'button "Pay"' in (bundle / "snapshot.txt").read_text()
    assert (bundle / "screenshot.png").read_bytes().startswith(b"\x89PNG")


def test_an_app_that_is_not_there_is_an_error_that_names_it(
    project: Project, attached: tuple[VirtualDeviceHandle, VirtualDeviceHandle]
) -> None:
    project.write(
        "test_app.py",
        "import pytest\n"
        "@pytest.fixture\n"
        "def webview_session_options():\n    return {'timeout_s': 3}\n"
        "def test_the_app(page):\n    pass\n",
    )

    run = project.run(f"--webview-device={attached[1].serial}", "--webview-app=org.example.nowhere")

    assert run.exit_code == 1
    assert "org.example.nowhere" in run.output
