"""A plain headless Chromium over CDP and a loopback HTTP server, for what the injected script does by itself."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from bridge.errors import ChromiumMissing
from bridge.surfaces.pytest_plugin.local_server import FolderHandler, serving
from bridge.virtual_device.engine.chromium import find_chromium

ROOT = Path(__file__).parents[2]
ACCNAME = Path(__file__).parent / "accname"
SCRIPT = ROOT / "bridge" / "snapshot" / "injected.min.js"
ACTIONS = SCRIPT.with_name("actions.min.js")
CHECKS = SCRIPT.with_name("checks.min.js")
FLAGS = [
    "--headless=new",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--mute-audio",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
    "--window-size=412,915",
]

_SHOWN = "/page.html"


class Page:
    """One tab; `run` evaluates in the page's world, `call` in the isolated world with the script in it."""

    def __init__(self, socket: ClientConnection, session_id: str, origin: str) -> None:
        self._socket = socket
        self._session_id = session_id
        self._ids = iter(range(1, 1 << 30))
        self._world: int | None = None
        self.events: list[dict[str, Any]] = []
        self.origin = origin

    def cdp(self, method: str, /, **params: Any) -> dict[str, Any]:
        return self.wait_reply(self.post(method, **params))

    def post(self, method: str, /, **params: Any) -> int:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "sessionId": self._session_id, "method": method, "params": params}))
        return number

    def wait_reply(self, number: int) -> dict[str, Any]:
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]
            if "method" in message and message.get("sessionId") == self._session_id:
                self.events.append(message)

    def wait_event(self, method: str) -> dict[str, Any]:
        while True:
            for index, event in enumerate(self.events):
                if event["method"] == method:
                    del self.events[index]
                    return event["params"]
            message = json.loads(self._socket.recv(timeout=60))
            if "method" in message and message.get("sessionId") == self._session_id:
                self.events.append(message)

    def goto(self, url: str) -> None:
        self._world = None
        self.events.clear()
        self.cdp("Page.navigate", url=url if ":" in url else self.origin + url)
        self.wait_event("Page.loadEventFired")

    def show(self, html: str) -> None:
        """Loads this HTML as a document of the loopback origin."""
        _Origin.shown = html.encode()
        self.goto(_SHOWN)

    def run(self, expression: str, *, world: int | None = None) -> Any:
        """The JSON value of an expression, promises awaited."""
        params: dict[str, Any] = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        if world is not None:
            params["contextId"] = world
        reply = self.cdp("Runtime.evaluate", **params)
        if "exceptionDetails" in reply:
            raise RuntimeError(reply["exceptionDetails"].get("exception", {}).get("description", "threw"))
        return reply["result"].get("value")

    def world(self) -> int:
        if self._world is None:
            frame = self.cdp("Page.getFrameTree")["frameTree"]["frame"]["id"]
            self._world = self.cdp("Page.createIsolatedWorld", frameId=frame, worldName="bridge")["executionContextId"]
            scripts = "".join(file.read_text() for file in (SCRIPT, ACTIONS, CHECKS))
            self.run(f"globalThis.__agentBrowserIsolated=1;\n{scripts}", world=self._world)
        return self._world

    def start_call(self, function: str, *args: Any) -> int:
        """Sends a call without waiting: for what has to be pipelined with input."""
        return self.post(
            "Runtime.evaluate", expression=_expression(function, args), contextId=self.world(), awaitPromise=True
        )

    def end_call(self, number: int) -> Any:
        return json.loads(self.wait_reply(number)["result"]["value"])

    def call(self, function: str, *args: Any) -> Any:
        """`AB.function(*args)` in the isolated world, over JSON as the bridge does it."""
        value = self.run(_expression(function, args), world=self.world())
        return None if value is None else json.loads(value)

    def snapshot(self, **options: Any) -> dict[str, Any]:
        """With as much time as it takes, unless a test is about that: budgets of time end earlier on a busy machine."""
        return self.call("snapshot", {"timeBudgetMs": 60_000, **options})

    def tap(self, x: float, y: float) -> None:
        points = [{"x": x, "y": y}]
        self.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=points)
        self.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def _expression(function: str, args: tuple[Any, ...]) -> str:
    listed = ",".join(json.dumps(arg) for arg in args)
    return f"(async()=>JSON.stringify(await __agentBrowser.{function}({listed})))()"


class _Origin(FolderHandler):
    """Serves the page that is shown, and files of the folder."""

    shown = b""

    def do_GET(self) -> None:
        if self.path != _SHOWN:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.shown)))
        self.end_headers()
        self.wfile.write(self.shown)


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """A loopback HTTP origin over a folder."""
    with serving(folder, _Origin) as server:
        yield server.origin


def chromium_path() -> str | None:
    try:
        return str(find_chromium(os.environ))
    except ChromiumMissing:
        return None


@contextlib.contextmanager
def chromium() -> Iterator[str]:
    """A browser of our own; yields its CDP address, and leaves neither process nor profile behind."""
    program = chromium_path()
    assert program
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stderr
            address = next(
                line.split("listening on ")[1].strip() for line in process.stderr if "DevTools listening on" in line
            )
            drain = threading.Thread(target=process.stderr.read, daemon=True)
            drain.start()
            yield address
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def open_page(address: str, origin: str) -> Iterator[Page]:
    """A tab of that browser, 412 × 915 CSS pixels with touch."""
    with connect(address, max_size=None, compression=None, ping_interval=None) as socket:

        def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
            socket.send(json.dumps({"id": number, "method": method, "params": params}))
            while True:
                message = json.loads(socket.recv(timeout=60))
                if message.get("id") == number:
                    return message["result"]

        target = ask(-1, "Target.createTarget", url="about:blank")["targetId"]
        session = ask(-2, "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(socket, session, origin)
        page.cdp("Page.enable")
        page.cdp("Emulation.setDeviceMetricsOverride", width=412, height=915, deviceScaleFactor=1, mobile=False)
        page.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
        page.cdp("Emulation.setFocusEmulationEnabled", enabled=True)
        try:
            yield page
        finally:
            ask(-3, "Target.closeTarget", targetId=target)
