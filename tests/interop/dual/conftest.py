"""Runs the suite of this folder on a WebView, or with pytest-playwright where `SUITE_ON=playwright` says so.

The tests know of the difference only the fixture `within` and the module that `expect` comes from.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ON_PLAYWRIGHT = os.environ.get("SUITE_ON") == "playwright"
SITE = Path(__file__).parent / "site"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def site_server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def site(site_server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{site_server.server_address[1]}"


@pytest.fixture
def within() -> Callable[[float], dict[str, float]]:
    """A timeout as the library takes it."""
    return (lambda seconds: {"timeout": seconds * 1000}) if ON_PLAYWRIGHT else (lambda seconds: {"timeout_s": seconds})


if ON_PLAYWRIGHT:

    @pytest.fixture(scope="session")
    def browser_type_launch_args() -> dict[str, Any]:
        program = os.environ.get("BRIDGE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
        return {"executable_path": program, "args": ["--no-sandbox"]}

    @pytest.fixture(scope="session")
    def expect() -> Any:
        from playwright.sync_api import expect

        return expect

else:

    @pytest.fixture(scope="module")
    def session(webview_device: str, site_server: ThreadingHTTPServer) -> Iterator[Any]:
        from bridge import TestServerGrant
        from bridge.sync import Session

        grants = [TestServerGrant("127.0.0.1", site_server.server_address[1])]
        with Session.open(webview_device, grants=grants) as session:
            yield session

    @pytest.fixture
    def page(session: Any) -> Iterator[Any]:
        page = session.new_page()
        yield page
        page.close()

    @pytest.fixture
    def expect() -> Any:
        from bridge.sync import expect

        return expect
