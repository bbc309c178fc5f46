"""The pytest plugin: fixtures for a device, a session, pages and a server, in asynchronous and in plain tests.

It is loaded by every pytest run of the environment that it is installed in, so this module imports nothing but pytest,
no fixture is used by itself, and nothing is printed unless a fixture was used.
"""

from __future__ import annotations

import argparse
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


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("webview", "webview-bridge")
    group.addoption(
        "--webview-device",
        default="auto",
        metavar="auto|virtual|SERIAL|all",
        help="auto: the attached device, else a virtual one; virtual: Chromium on this machine; a serial; all: every "
        "test once on each attached device. Workers of pytest-xdist take different devices. (default: auto)",
    )
    group.addoption("--webview-app", metavar="PACKAGE", help="Test the WebView of this app; it must be debuggable.")
    group.addoption(
        "--webview-artifacts",
        choices=("on-failure", "always", "never"),
        default="on-failure",
        help="When to leave a folder with screenshot, snapshot, Markdown, console, HAR and logs. (default: on-failure)",
    )
    group.addoption(
        "--webview-shard",
        type=_shard,
        metavar="I/N",
        help="Run only the I-th of N parts of the tests, such as 1/3: one machine per part.",
    )
    group.addoption("--webview-trace", action="store_true", help="Leave a trace of every test's session, as HTML.")
    parser.addini("webview_artifacts_dir", "Where the folders go, below the root.", default="webview-artifacts")


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part such as 1/3")
    return int(index), int(count)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test's name decides which part it is in, so parts are the same on every machine and hardly change."""
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
    if config.pluginmanager.hasplugin("asyncio"):
        from bridge.surfaces.pytest_plugin import asyncio_fixtures

        config.pluginmanager.register(asyncio_fixtures, "webview-asyncio")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "webview_device" not in metafunc.fixturenames or metafunc.config.getoption("--webview-device") != "all":
        return
    import asyncio

    from bridge.surfaces.device_pool.pool import attached_serials

    serials = metafunc.config.stash.get(_ATTACHED, None)
    if serials is None:
        serials = metafunc.config.stash[_ATTACHED] = asyncio.run(attached_serials())
    if not serials:
        raise pytest.UsageError("--webview-device=all, and no device is attached")
    # With `--dist loadgroup` each device's tests go to one worker, which then never waits for a device.
    grouped = [pytest.param(serial, marks=pytest.mark.xdist_group(serial)) for serial in serials]
    metafunc.parametrize("webview_device", grouped, ids=serials, indirect=True, scope="session")


@pytest.fixture(scope="session")
def webview_device(request: pytest.FixtureRequest) -> Iterator[str]:
    """The serial of the device under test; nobody else of this user's test runs has it meanwhile."""
    from bridge.surfaces.blocking import LoopThread, block
    from bridge.surfaces.pytest_plugin.devices import device_for_tests

    config = request.config
    wanted = getattr(request, "param", None) or config.getoption("--webview-device")
    device = device_for_tests(wanted, is_worker=hasattr(config, "workerinput"), timeout_s=_DEVICE_TIMEOUT_S)
    # A loop of its own: the one of plain tests begins and ends with their sessions.
    with block(device, LoopThread()) as got:
        config.stash[_DEVICES].append(str(got))
        yield got.serial


@pytest.fixture
def webview_session_options() -> Mapping[str, Any]:
    """Arguments for `Session.open` (or `attach`): override it in a conftest or a module."""
    return {}


@pytest.fixture
def webview_plan(
    request: pytest.FixtureRequest, webview_device: str, webview_session_options: Mapping[str, Any]
) -> SessionSettings:
    """How this test's session is opened."""
    from bridge.surfaces.pytest_plugin.artifacts import Artifacts
    from bridge.surfaces.pytest_plugin.sessions import SessionSettings

    config = request.config
    artifacts = Artifacts(
        root=config.rootpath,
        below=config.getini("webview_artifacts_dir"),
        test=request.node.nodeid,
        when=config.getoption("--webview-artifacts"),
        properties=request.node.user_properties,
    )
    request.node.stash[ARTIFACTS] = artifacts
    plan = SessionSettings(webview_device, webview_session_options, artifacts, app=config.getoption("--webview-app"))
    if "local_server" in request.fixturenames:
        plan = replace(plan, grants=(request.getfixturevalue("local_server").grant,))
    if config.getoption("--webview-trace"):
        plan = replace(plan, trace=artifacts.folder / "trace.html")
    return plan


@pytest.fixture
def webview_session(request: pytest.FixtureRequest, webview_plan: SessionSettings) -> Any:
    """A session on the device that ends with the test: `bridge.Session`, or `bridge.sync.Session` in a plain test."""
    return request.getfixturevalue(_form(request, "webview_session"))


@pytest.fixture
def page(request: pytest.FixtureRequest, webview_session: Any) -> Any:
    """A tab without cookies, cache and storage of other tests: `bridge.Page`, or `bridge.sync.Page` in a plain test.

    With `--webview-app` it is the app's page, as it is.
    """
    return request.getfixturevalue(_form(request, "webview_page"))


@pytest.fixture
def new_page(request: pytest.FixtureRequest, webview_session: Any, page: Any) -> Callable[..., Any]:
    """`new_page(url)` gives one more tab beside `page`, with the same cookies; awaited in an asynchronous test."""
    from bridge.surfaces.blocking import Blocking, method
    from bridge.surfaces.pytest_plugin.sessions import page_maker

    if isinstance(webview_session, Blocking):
        return method(page_maker(webview_session._ours))
    return page_maker(webview_session)


@pytest.fixture(scope="module")
def webview_local_folder(request: pytest.FixtureRequest) -> Path:
    """What `local_server` serves: `pages` beside the test module, else the module's own folder. Override it."""
    beside = request.path.parent
    return beside / "pages" if (beside / "pages").is_dir() else beside


@pytest.fixture(scope="module")
def local_server(webview_local_folder: Path) -> Iterator[LocalServer]:
    """A web server for that folder on this machine's loopback, which the tests that use it may open on the device."""
    from bridge.surfaces.pytest_plugin.local_server import serving

    with serving(webview_local_folder) as server:
        yield server


@pytest.fixture
def webview_session_blocking(webview_plan: SessionSettings) -> Iterator[Any]:
    from bridge import sync  # noqa: F401 - makes the blocking classes known
    from bridge.surfaces.blocking import block
    from bridge.surfaces.pytest_plugin.sessions import session_for_test

    with block(session_for_test(webview_plan)) as session:
        yield session


@pytest.fixture
def webview_page_blocking(webview_plan: SessionSettings, webview_session: Any) -> Iterator[Any]:
    from bridge.surfaces.blocking import block
    from bridge.surfaces.pytest_plugin.sessions import page_for_test

    with block(page_for_test(webview_session._ours, webview_plan)) as page:
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
            # The folder is filled while the fixtures are torn down, after this report has been made.
            report.sections.append(("webview artifacts", artifacts.shown))
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
    """Of pytest-xdist, in the process that reports: a worker has ended."""
    devices: list[str] = node.config.stash[_DEVICES]
    devices += getattr(node, "workeroutput", {}).get("webview_devices", ())


def _end_traceback_in_the_test(error: BaseException) -> None:
    """Our errors say what was seen; the frames between the test's line and ours say nothing to its author."""
    from bridge.errors import BridgeError

    caller, entry = None, error.__traceback__ if isinstance(error, BridgeError) else None
    while entry is not None and not str(entry.tb_frame.f_globals.get("__name__")).startswith("bridge."):
        caller, entry = entry, entry.tb_next
    if caller is not None and entry is not None:
        caller.tb_next = None


def _form(request: pytest.FixtureRequest, name: str) -> str:
    """Which fixture stands behind `name`: asynchronous tests work in their own loop, plain ones in ours."""
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
