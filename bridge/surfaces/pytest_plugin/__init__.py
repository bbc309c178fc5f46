"""The pytest plugin: fixtures for a device, a session, pages and a server, in asynchronous and plain tests.

Every pytest run of the environment loads it. So this module imports only pytest, no fixture is automatic, and nothing
is printed unless a fixture was used.
"""

from __future__ import annotations

import argparse
import uuid
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bridge.surfaces.local_server import LocalServer
    from bridge.surfaces.pytest_plugin.sessions import SessionSettings

ARTIFACTS = pytest.StashKey[Any]()
_DEVICES = pytest.StashKey[list[str]]()
_ATTACHED = pytest.StashKey[tuple[str, ...]]()
_DEVICE_TIMEOUT_S = 600.0
_KEPT = ("on", "off", "retain-on-failure")
_RUN_ID = pytest.StashKey[str]()
_PLAYWRIGHT = "playwright"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("webview", "webview-bridge")
    group.addoption(
        "--webview-device",
        default="auto",
        metavar="auto|virtual|SERIAL|all",
        help="auto: the attached device, else a virtual one; virtual: Chromium on this machine; a serial; all: "
        "each test once on every attached device. pytest-xdist workers use different devices. (default: auto)",
    )
    group.addoption("--webview-app", metavar="PACKAGE", help="Test the WebView of this debuggable app.")
    group.addoption(
        "--webview-artifacts",
        choices=("on-failure", "always", "never"),
        default="on-failure",
        help="When to save a folder with screenshot, snapshot, Markdown, console, HAR and logs. (default: on-failure)",
    )
    group.addoption(
        "--webview-shard",
        type=_shard,
        metavar="I/N",
        help="Run only part I of N of the tests, such as 1/3; for one machine per part.",
    )
    group.addoption(
        "--webview-trace",
        choices=_KEPT,
        nargs="?",
        const="on",
        default="off",
        help="Save a trace of each test's session, as HTML, or of failed tests only. (default: off)",
    )
    group.addoption(
        "--webview-video",
        choices=_KEPT,
        nargs="?",
        const="on",
        default="off",
        help="Save a recording of each test's page; only of failed tests with retain-on-failure. (default: off)",
    )
    parser.addini("webview_base_url", "Base URL for paths given to page.goto and session.new_page.", default="")
    parser.addini(
        "webview_page_fixture",
        "Set to page to make the fixture page a WebView page, even if pytest-playwright is installed.",
        default="",
    )
    parser.addini("webview_artifacts_dir", "Folder for artifacts, relative to the root.", default="webview-artifacts")


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid part such as 1/3")
    return int(index), int(count)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test's part depends only on its name, so it is the same on every machine."""
    shard = config.getoption("--webview-shard")
    if shard is None:
        return
    index, count = shard
    ours = [item for item in items if zlib.crc32(item.nodeid.encode()) % count == index - 1]
    config.hook.pytest_deselected(items=[item for item in items if item not in ours])
    items[:] = ours


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_DEVICES] = []
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    config.stash[_RUN_ID] = str(worker.get("webview_run_id") or uuid.uuid4().hex)
    if _page_is_ours(config):
        from bridge.surfaces.pytest_plugin import page_fixture

        config.pluginmanager.register(page_fixture, "webview-page")
    if config.pluginmanager.hasplugin("asyncio"):
        from bridge.surfaces.pytest_plugin import asyncio_fixtures

        config.pluginmanager.register(asyncio_fixtures, "webview-asyncio")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hook of pytest-xdist in the main process: a worker is about to start."""
    node.workerinput["webview_run_id"] = node.config.stash[_RUN_ID]


def pytest_report_header(config: pytest.Config) -> str | None:
    """The line of the header that says which fixture is a WebView's page, where there may be doubt."""
    if not config.pluginmanager.hasplugin(_PLAYWRIGHT):
        return None
    if _page_is_ours(config):
        return "webview-bridge: the fixture page is a WebView's (webview_page_fixture)"
    return "webview-bridge: the fixture page is Playwright's, webview_page is a WebView's"


def _page_is_ours(config: pytest.Config) -> bool:
    wanted = str(config.getini("webview_page_fixture"))
    if wanted not in ("", "page"):
        raise pytest.UsageError(f"webview_page_fixture = {wanted}; it must be page or empty")
    return wanted == "page" or not config.pluginmanager.hasplugin(_PLAYWRIGHT)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "webview_device" not in metafunc.fixturenames or metafunc.config.getoption("--webview-device") != "all":
        return
    import asyncio

    from bridge.surfaces.device_pool.pool import attached_serials

    serials = metafunc.config.stash.get(_ATTACHED, None)
    if serials is None:
        serials = metafunc.config.stash[_ATTACHED] = asyncio.run(attached_serials())
    if not serials:
        raise pytest.UsageError("--webview-device=all requires an attached device")
    # With `--dist loadgroup` one worker gets all tests of a device and never waits for it.
    grouped = [pytest.param(serial, marks=pytest.mark.xdist_group(serial)) for serial in serials]
    metafunc.parametrize("webview_device", grouped, ids=serials, indirect=True, scope="session")


@pytest.fixture(scope="session")
def webview_device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The serial of the device under test, exclusive among this user's test runs."""
    from bridge.surfaces.blocking import LoopThread, block
    from bridge.surfaces.pytest_plugin.devices import device_for_tests

    config = request.config
    wanted = getattr(request, "param", None) or config.getoption("--webview-device")
    device = device_for_tests(wanted, is_worker=hasattr(config, "workerinput"), timeout_s=_DEVICE_TIMEOUT_S)
    # A loop of its own: the one of plain tests starts and stops with their sessions.
    with block(device, LoopThread()) as got:
        config.stash[_DEVICES].append(str(got))
        yield got.serial


@pytest.fixture
def webview_session_options() -> Mapping[str, Any]:
    """Arguments for `Session.open` (or `attach`). Override it in a conftest or a module."""
    return {}


@pytest.fixture
def webview_session_settings(
    request: pytest.FixtureRequest, webview_device: str, webview_session_options: Mapping[str, Any]
) -> SessionSettings:
    """Settings for opening the test's session."""
    from bridge.surfaces.pytest_plugin.artifacts import Artifacts
    from bridge.surfaces.pytest_plugin.sessions import SessionSettings

    config = request.config
    artifacts = Artifacts(
        root=config.rootpath,
        below=config.getini("webview_artifacts_dir"),
        test=request.node.nodeid,
        when=config.getoption("--webview-artifacts"),
        properties=request.node.user_properties,
        run_id=config.stash[_RUN_ID],
    )
    request.node.stash[ARTIFACTS] = artifacts
    settings = SessionSettings(
        webview_device,
        webview_session_options,
        artifacts,
        app=config.getoption("--webview-app"),
        base_url=_base_url(request),
        video=config.getoption("--webview-video"),
    )
    if "local_server" in request.fixturenames:
        settings = replace(settings, grants=(request.getfixturevalue("local_server").grant,))
    if (kept := config.getoption("--webview-trace")) != "off":
        settings = replace(settings, trace=artifacts.trace_path(is_kept_always=kept == "on"))
    return settings


@pytest.fixture
def webview_session(request: pytest.FixtureRequest, webview_session_settings: SessionSettings) -> Any:
    """A session on the device for one test: `bridge.Session`, or `bridge.sync.Session` in a plain test."""
    return request.getfixturevalue(_form(request, "webview_session"))


@pytest.fixture
def webview_page(request: pytest.FixtureRequest, webview_session: Any) -> Any:
    """A tab with its own cookies, cache and storage: `bridge.Page`, or `bridge.sync.Page` in a plain test.

    With `--webview-app` it is the app's page, unchanged. The fixture `page` is the same, except where pytest-playwright
    has one of that name.
    """
    return request.getfixturevalue(_form(request, "webview_page"))


@pytest.fixture
def new_page(request: pytest.FixtureRequest, webview_session: Any, webview_page: Any) -> Callable[..., Any]:
    """`new_page(url)` opens another tab with the cookies of `webview_page`; awaited in an asynchronous test."""
    from bridge.surfaces.blocking import BlockingProxy, method
    from bridge.surfaces.pytest_plugin.sessions import page_maker

    if isinstance(webview_session, BlockingProxy):
        return method(page_maker(webview_session._target))
    return page_maker(webview_session)


@pytest.fixture(scope="module")
def webview_local_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of `local_server`: `pages` beside the test module, else the module's own folder. Override it."""
    beside = request.path.parent
    return beside / "pages" if (beside / "pages").is_dir() else beside


@pytest.fixture(scope="module")
def local_server(webview_local_folder: Path) -> Iterator[LocalServer]:
    """A web server for that folder on loopback, which the device may open."""
    from bridge.surfaces.pytest_plugin.local_server import serving

    with serving(webview_local_folder) as server:
        yield server


@pytest.fixture
def webview_session_blocking(webview_session_settings: SessionSettings) -> Iterator[Any]:
    from bridge import sync  # noqa: F401 - registers the blocking classes
    from bridge.surfaces.blocking import block
    from bridge.surfaces.pytest_plugin.sessions import session_for_test

    with block(session_for_test(webview_session_settings)) as session:
        yield session


@pytest.fixture
def webview_page_blocking(webview_session_settings: SessionSettings, webview_session: Any) -> Iterator[Any]:
    from bridge.surfaces.blocking import block
    from bridge.surfaces.pytest_plugin.sessions import page_for_test

    with block(page_for_test(webview_session._target, webview_session_settings)) as page:
        yield page


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    artifacts = item.stash.get(ARTIFACTS, None)
    if artifacts is not None and call.excinfo and call.when == "call" and not item.config.getoption("--full-trace"):
        _end_traceback_in_the_test(call.excinfo.value)
    report = yield
    if artifacts is not None and report.failed:
        artifacts.has_failed = True
        if artifacts.are_wanted and artifacts.has_session:
            # The folder is filled during fixture teardown, after this report.
            report.sections.append(("webview artifacts", artifacts.display_path))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    used: list[str] = config.stash[_DEVICES]
    for device in sorted(set(used)):
        terminalreporter.write_line(f"webview device: {device}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["webview_devices"] = session.config.stash[_DEVICES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Hook of pytest-xdist in the reporting process: a worker has ended."""
    devices: list[str] = node.config.stash[_DEVICES]
    devices += getattr(node, "workeroutput", {}).get("webview_devices", ())


def _base_url(request: pytest.FixtureRequest) -> str:
    """The base URL of pytest-base-url (`--base-url`), where it is installed, else the ini option."""
    given = str(request.config.getoption("base_url", None) or "")
    return given or str(request.config.getini("webview_base_url"))


def _end_traceback_in_the_test(error: BaseException) -> None:
    """Cut the bridge's own frames from the traceback; its errors say what was seen."""
    from bridge.errors import BridgeError

    caller, entry = None, error.__traceback__ if isinstance(error, BridgeError) else None
    while entry is not None and not str(entry.tb_frame.f_globals.get("__name__")).startswith("bridge."):
        caller, entry = entry, entry.tb_next
    if caller is not None and entry is not None:
        caller.tb_next = None


def _form(request: pytest.FixtureRequest, name: str) -> str:
    """The fixture that implements `name`: asynchronous tests use their own loop, plain ones the shared loop."""
    import inspect

    if not inspect.iscoroutinefunction(getattr(request, "function", None)):
        return f"{name}_blocking"
    if not request.config.pluginmanager.hasplugin("webview-asyncio"):
        pytest.fail("an async test with webview fixtures needs pytest-asyncio: pip install pytest-asyncio", False)
    marker = request.node.get_closest_marker("asyncio")
    mode = request.config.getoption("asyncio_mode", None) or request.config.getini("asyncio_mode")
    if marker is None and str(mode) != "auto":
        pytest.fail("an async test with webview fixtures needs asyncio_mode = auto, or @pytest.mark.asyncio", False)
    scope = marker and marker.kwargs.get("loop_scope")
    return f"{name}_{scope or request.config.getini('asyncio_default_test_loop_scope') or 'function'}"
