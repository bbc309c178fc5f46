"""The plugin as its users have it: installed from the wheel, in projects of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.pytest_plugin.conftest import Project

BUNDLE = {
    *("screenshot.png", "snapshot.txt", "page.md", "console.txt", "network.har", "logcat.txt", "host.log"),
    ".webview-run",
}


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_four_workers_have_a_virtual_device_each_and_failures_leave_a_bundle(sample_project: Project) -> None:
    run = sample_project.run("--webview-device=virtual", "-n", "4")

    assert "2 failed, 10 passed" in run.output, run.output
    devices = re.findall(r"webview device: (\S+) \(virtual", run.output)
    assert len(set(devices)) == len(devices) == 4
    for test in ("test_async_failure", "test_plain_failure"):
        linked = run.properties(test)["webview_artifacts"]
        assert f"{linked}\n" in run.output
        assert {path.name for path in (sample_project.folder / linked).iterdir()} == BUNDLE
    assert "webview_artifacts" not in run.properties("test_a_second_page_shares_the_cookies")

    folder = sample_project.folder / run.properties("test_plain_failure")["webview_artifacts"]
    assert "[error] no stock was checked" in (folder / "console.txt").read_text()
    assert 'button "Order"' in (folder / "snapshot.txt").read_text()
    assert "# Shop" in (folder / "page.md").read_text()
    assert json.loads((folder / "network.har").read_text())["log"]["entries"][0]["request"]["url"].endswith("shop.html")
    assert "webviewbridge" in (folder / "logcat.txt").read_text().lower()
    with Image.open(folder / "screenshot.png") as picture:
        assert picture.size == (412, 915)


@pytest.mark.browser
def test_a_failure_is_reported_at_the_line_of_the_test(sample_project: Project) -> None:
    run = sample_project.run("--webview-device=virtual", "--webview-artifacts=never", "-k", "plain_failure")

    assert re.search(r'> +expect\(page.get_by_role\("status"\)\).*\nE +bridge.errors.ExpectationFailed', run.output)
    assert "blocking.py" not in run.output
    assert not (sample_project.folder / "webview-artifacts").exists()
    assert "webview_artifacts" not in run.properties("test_plain_failure")


@pytest.mark.browser
def test_the_folder_of_a_failed_test_has_a_trace_of_it(sample_project: Project) -> None:
    from bridge.surfaces.trace.document import read_trace

    run = sample_project.run("--webview-device=virtual", "--webview-trace", "-k", "plain_failure")

    folder = sample_project.folder / run.properties("test_plain_failure")["webview_artifacts"]
    assert {path.name for path in folder.iterdir()} == BUNDLE | {"trace.html"}
    done = [operation["name"] for operation in read_trace(folder / "trace.html")["operations"]]
    assert done == ["goto", "click", "to_have_text"]


@pytest.mark.browser
def test_files_of_an_earlier_run_are_replaced_and_those_of_others_kept(sample_project: Project) -> None:
    earlier = sample_project.run("--webview-device=virtual", "-k", "plain_failure")
    folder = sample_project.folder / earlier.properties("test_plain_failure")["webview_artifacts"]
    (folder / "old.txt").touch()

    later = sample_project.run("--webview-device=virtual", "-k", "plain_failure")
    assert sample_project.folder / later.properties("test_plain_failure")["webview_artifacts"] == folder
    assert not (folder / "old.txt").exists()

    (folder / ".webview-run").unlink()  # a folder of another origin
    last = sample_project.run("--webview-device=virtual", "-k", "plain_failure")
    assert sample_project.folder / last.properties("test_plain_failure")["webview_artifacts"] != folder


def test_an_unknown_serial_is_an_error_that_names_it(project: Project) -> None:
    project.write("test_one.py", "def test_one(page):\n    pass\n")

    run = project.run("--webview-device=no-such-phone")

    assert run.exit_code == 1
    assert "no device with serial 'no-such-phone' is attached" in run.output


def test_all_devices_without_any_is_bad_usage(project: Project) -> None:
    project.write("test_one.py", "def test_one(page):\n    pass\n")

    run = project.run("--webview-device=all")

    assert run.exit_code != 0
    assert "--webview-device=all requires an attached device" in run.output


def test_nothing_is_said_and_nothing_heavy_is_imported_where_it_is_not_used(project: Project) -> None:
    project.write(
        "test_plain.py",
        "import sys\n"
        "def test_plain():\n"
        "    heavy = {'websockets', 'PIL', 'lxml', 'adbutils', 'httpx', 'bridge.page', 'bridge.session'}\n"
        "    assert not heavy & set(sys.modules)\n",
    )

    run = project.run()

    assert run.exit_code == 0, run.output
    assert "webview device" not in run.output
    assert {path.name for path in project.folder.iterdir()} <= {
        "pytest.ini",
        "test_plain.py",
        "junit.xml",
        "__pycache__",
    }


def test_a_test_of_an_async_function_without_its_plugin_says_what_is_missing(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\n")
    project.write("test_one.py", "async def test_one(page):\n    pass\n")

    run = project.run("-p", "no:asyncio", "--webview-device=virtual")

    assert "pip install pytest-asyncio" in run.output
    assert not (project.folder / "webview-artifacts").exists()


def test_an_async_test_that_would_not_be_awaited_names_the_missing_setting(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\n")
    project.write(
        "test_one.py",
        "import pytest\nasync def test_one(page):\n    pass\n\n"
        "@pytest.mark.asyncio\nasync def test_marked(page):\n    assert (await page.get_state()).title == ''\n",
    )

    run = project.run("--webview-device=virtual")

    assert "needs asyncio_mode = auto, or @pytest.mark.asyncio" in run.output
    assert "1 passed, 1 error" in run.output
    assert not (project.folder / "webview-artifacts").exists()


def test_the_folder_of_a_test_is_readable_and_safe(tmp_path: Path) -> None:
    from bridge.surfaces.pytest_plugin.artifacts import Artifacts

    properties: list[tuple[str, object]] = []
    names = [
        Artifacts(tmp_path, "kept", test, "always", properties, "run").folder
        for test in (
            "tests/test_a.py::test_b[../../etc/passwd]",
            "tests/test_a.py::test_b[..-..-etc-passwd]",
            "x" * 300,
        )
    ]

    assert len(set(names)) == 3
    assert all(folder.parent == tmp_path / "kept" and len(folder.name) < 120 for folder in names)
    assert [value for _, value in properties] == [f"kept/{folder.name}" for folder in names]
