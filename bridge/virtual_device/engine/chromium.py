"""Finds Chromium on this machine and runs it as a WebView engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from bridge.deadline import Deadline, finish
from bridge.errors import ChromiumMissing, VirtualDeviceFailed
from bridge.virtual_device.engine.old_engines import require_engine

VARIABLES = ("BRIDGE_CHROMIUM", "CHROMIUM")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_MAC_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_WINDOWS_PLACES = (
    r"Google\Chrome\Application\chrome.exe",
    r"Chromium\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)
_POLL_S = 0.01
_VERSION_TIMEOUT_S = 5.0
_LAST_WORDS_S = 1.0
_STDERR_LINES = 40

# Features that a WebView does not have, or that send requests by themselves.
_FLAGS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    # No initial page: it would keep a hung renderer alive after all tabs have left it.
    "--no-startup-window",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu",
    "--disable-prompt-on-repost",
    "--disable-quic",
    # WebRTC over UDP would bypass the proxy of the host app; WebView has no such switch.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    # No throttling of hidden windows: the host app's display is always on.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # WebView has no site isolation and one renderer for all tabs of a profile (aw_content_browser_client.cc).
    "--disable-site-isolation-trials",
    "--renderer-process-limit=1",
    "--hide-scrollbars",
    "--touch-events=enabled",
    # 0.0.0.0 reaches this machine, but is not loopback for Chromium: it must not bypass the device's loopback.
    "--host-resolver-rules=MAP 0.0.0.0 ~NOTFOUND, MAP [::] ~NOTFOUND",
)
_DISABLED_FEATURES = (
    "AutofillServerCommunication",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    # Chrome tries https: before http:; a WebView opens the given address.
    "HttpsUpgrades",
    "IsolateOrigins",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ProcessPerSiteUpToMainFrameThreshold",
    "SpareRendererForSitePerProcess",
    "Translate",
    # Two pages of the address bar per window, which cost as much as the tab itself.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
    "site-per-process",
)
# A WebView passes PDF files to its DownloadListener, and the host app opens no other apps (core/Navigation.java). A
# script stops pages from navigating there (emulation.py); these preferences stop redirects and frames, and suppress
# Chromium's dialog, which would block the tab's input. Chromium keeps preferences and policies in one file.
_PREFERENCES: dict[str, dict[str, object]] = {
    "plugins": {"always_open_pdf_externally": True},
    "policy": {
        "url_blocklist": ["*"],
        "url_allowlist": ["http://*", "https://*", "ws://*", "wss://*", "about:*", "blob:*", "data:*"],
    },
}


@dataclass(frozen=True)
class RunningChromium:
    """A Chromium that is ready; `browser_path` is the path of its browser-level WebSocket."""

    port: int
    browser_path: str
    pid: int


def find_chromium(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The program in BRIDGE_CHROMIUM or CHROMIUM, else a usual name on PATH, else a usual path of the platform.

    A number in the variable is the major version of an old engine in the cache (`tools/engines`).

    Raises:
        ChromiumMissing: There is none, or the variable does not name a program.
    """
    for variable in VARIABLES:
        if named := environ.get(variable):
            if named.isdecimal():
                return require_engine(int(named))
            found = shutil.which(named, path=environ.get("PATH"))
            if found is None:
                raise ChromiumMissing(
                    f"{variable} is {named!r}, which is not a program.", hint=f"Correct or unset {variable}."
                )
            return Path(found)
    for name in NAMES:
        if found := shutil.which(name, path=environ.get("PATH")):
            return Path(found)
    for place in _places(environ, platform):
        if place.is_file():
            return place
    raise ChromiumMissing(
        f"Chromium was not found: {VARIABLES[0]} is not set, and none of {', '.join(NAMES)} is on the PATH.",
        hint=_fix(platform),
    )


def _places(environ: Mapping[str, str], platform: str) -> Iterator[Path]:
    if platform == "darwin":
        yield from map(Path, _MAC_PLACES)
    if platform == "win32":
        for root in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if folder := environ.get(root):
                yield from (Path(PureWindowsPath(folder, place)) for place in _WINDOWS_PLACES)


def _fix(platform: str) -> str:
    how = "Install Google Chrome" if platform in ("darwin", "win32") else "Install it (apt-get install chromium)"
    return f"{how}, or set {VARIABLES[0]} to the program."


def command_line(
    program: Path, profile: Path, *, socks_port: int | None, user_agent: str, extra: Sequence[str] = ()
) -> list[str]:
    """The command line; `socks_port` is the proxy for the device's loopback (network.py)."""
    flags = [*_FLAGS, f"--disable-features={','.join(_DISABLED_FEATURES)}", f"--user-data-dir={profile}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses to run as root with a sandbox
    if socks_port is not None:
        flags += [f"--proxy-server=socks5://127.0.0.1:{socks_port}", "--proxy-bypass-list=*;<-loopback>"]
    return [str(program), *flags, f"--user-agent={user_agent}", *extra]


async def program_version(program: Path) -> str:
    """The version that `--version` prints, "" if it prints none (Windows)."""
    process = await asyncio.create_subprocess_exec(
        str(program),
        "--version",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_VERSION_TIMEOUT_S):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    found = re.search(r"\d+(\.\d+){3}", printed.decode(errors="replace"))
    return found[0] if found else ""


@asynccontextmanager
async def run_chromium(command: Sequence[str], profile: Path, *, timeout_s: float) -> AsyncIterator[RunningChromium]:
    """Runs Chromium in its own process group, which is killed at the end of the block.

    Raises:
        VirtualDeviceFailed: It exited during the start; the message has the end of its stderr.
        DeadlineExceeded: It did not write DevToolsActivePort in time.
    """
    ready = _make_profile(profile)
    deadline = Deadline.after(timeout_s)
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        # Chromium leaves a folder for its singleton socket in TMPDIR; the profile is removed with the device.
        env={**os.environ, "TMPDIR": str(profile)},
    )
    written = _Stderr()
    draining = asyncio.create_task(_drain(process, written), name=f"stderr of chromium {process.pid}")
    try:
        port, path = await _devtools_port(process, ready, written, draining, deadline)
        yield RunningChromium(port, path, process.pid)
    finally:
        await finish(_stop(process, draining), at_most_s=10.0, what=f"stopping chromium {process.pid}")


def _make_profile(profile: Path) -> Path:
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    preferences.write_text(json.dumps(_PREFERENCES))
    ready = profile / "DevToolsActivePort"
    ready.unlink(missing_ok=True)
    return ready


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


async def _devtools_port(
    process: asyncio.subprocess.Process,
    ready: Path,
    written: _Stderr,
    draining: asyncio.Task[None],
    deadline: Deadline,
) -> tuple[int, str]:
    while True:
        # Written after the port is bound: the port, a newline, and (maybe later) the path of the browser's WebSocket.
        port, _, path = _read(ready).partition("\n")
        if port.isdigit() and path.strip():
            return int(port), path.strip()
        if process.returncode is not None:
            # Its exit may be noticed before its stderr was read.
            await asyncio.wait({draining}, timeout=_LAST_WORDS_S)
            raise VirtualDeviceFailed(
                f"Chromium exited with {process.returncode} before it was ready: {written.tail()}",
                stderr="\n".join(written.lines),
            )
        if deadline.passed:
            raise deadline.exceeded("starting Chromium", written.tail())
        await asyncio.sleep(_POLL_S)


@dataclass
class _Stderr:
    """Chromium's stderr: its tail, and the first fatal line, which a stack trace may follow."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_STDERR_LINES))
    fatal: str = ""

    def take(self, line: str) -> None:
        self.lines.append(line)
        if ":FATAL:" in line and not self.fatal:
            self.fatal = line

    def tail(self) -> str:
        return (self.fatal or " / ".join(list(self.lines)[-3:]))[:500] or "stderr was empty"


async def _drain(process: asyncio.subprocess.Process, written: _Stderr) -> None:
    assert process.stderr is not None
    while piece := await process.stderr.read(64 * 1024):
        for line in filter(str.strip, piece.decode(errors="replace").splitlines()):
            written.take(line)


async def _stop(process: asyncio.subprocess.Process, draining: asyncio.Task[None]) -> None:
    if sys.platform == "win32":
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    draining.cancel()
    await asyncio.gather(draining, return_exceptions=True)
