"""Finds Chromium on this machine and runs it as a WebView engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
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
_VERSION_TIMEOUT_S = 5.0
_LAST_WORDS_S = 1.0
_STDERR_LINES = 40
# Where Chromium reads commands and writes replies (content/browser/devtools/devtools_pipe_handler.cc).
_PIPE_FDS = (3, 4)

# Features that a WebView does not have, or that send requests by themselves.
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    # No initial page: it would keep a hung renderer alive after all tabs have left it.
    "--no-startup-window",
    "--disable-background-networking",
    # A dump holds memory of the page, and goes to the user's configuration folder.
    "--disable-breakpad",
    "--disable-crash-reporter",
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
    # Signed-in accounts, which a WebView has none of, are looked up there.
    "--gaia-url=http://0.0.0.0",
    "--google-apis-url=http://0.0.0.0",
)
# 0.0.0.0 reaches this machine, but is not loopback for Chromium: it must not bypass the device's loopback. The others
# serve updates, the time and experiments to the browser itself; pages resolve their hosts at the gate.
_HOSTS_NOT_FOUND = (
    "0.0.0.0",  # noqa: S104
    "[::]",
    "clients2.google.com",
    "clients4.google.com",
    "clientservices.googleapis.com",
    "content-autofill.googleapis.com",
    "mtalk.google.com",
    "optimizationguide-pa.googleapis.com",
    "redirector.gvt1.com",
    "safebrowsing.googleapis.com",
    "update.googleapis.com",
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
    "NetworkTimeServiceQuerying",
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
    # The app accepts third-party cookies (setAcceptThirdPartyCookies); off-the-record contexts would block them.
    "profile": {"cookie_controls_mode": 0},
    "policy": {
        "url_blocklist": ["*"],
        "url_allowlist": ["http://*", "https://*", "ws://*", "wss://*", "about:*", "blob:*", "data:*"],
    },
}


@dataclass(frozen=True)
class RunningChromium:
    """A Chromium that is ready.

    Attributes:
        sock: Our end of its devtools pipe. Chromium ends when it is closed.
        product: "Chrome/" and its version.
        last_words: The end of its stderr so far, or the fatal line.
    """

    sock: socket.socket
    product: str
    pid: int
    last_words: Callable[[], str]


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
    flags.append("--host-resolver-rules=" + ", ".join(f"MAP {host} ~NOTFOUND" for host in _HOSTS_NOT_FOUND))
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
        DeadlineExceeded: It did not respond on its devtools pipe in time.
    """
    _make_profile(profile)
    deadline = Deadline.after(timeout_s)
    ours, its = socket.socketpair()
    with ours:
        with its:
            process = await _spawn(command, profile, its)
        written = _Stderr()
        draining = asyncio.create_task(_drain(process, written), name=f"stderr of chromium {process.pid}")
        try:
            product = await _first_reply(process, ours, written, draining, deadline)
            yield RunningChromium(ours, product, process.pid, written.tail)
        finally:
            await finish(_stop(process, draining), at_most_s=10.0, what=f"stopping chromium {process.pid}")


async def _spawn(command: Sequence[str], profile: Path, pipe: socket.socket) -> asyncio.subprocess.Process:
    import fcntl  # Windows has neither, and finds a program here all the same
    import resource

    end = pipe.fileno()

    def prepare() -> None:
        os.umask(0o077)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        high = fcntl.fcntl(end, fcntl.F_DUPFD, 10)
        os.dup2(high, _PIPE_FDS[0])
        os.dup2(high, _PIPE_FDS[1])

    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        pass_fds=_PIPE_FDS,
        preexec_fn=prepare,  # only system calls: it runs between fork and exec
        env={**os.environ, **_environment(profile)},
    )


def _environment(profile: Path) -> dict[str, str]:
    """Keeps in the profile, which is removed with the device, what Chromium writes elsewhere."""
    return {
        "TMPDIR": str(profile),  # the folder of its singleton socket
        "BREAKPAD_DUMP_LOCATION": str(profile / "crashes"),
        "CHROME_CONFIG_HOME": str(profile),
        "GSETTINGS_BACKEND": "memory",  # its toolkit would write the desktop's settings into the user's cache
    }


def _make_profile(profile: Path) -> None:
    preferences = profile / "Default" / "Preferences"
    # One by one: the folders that mkdir makes above the last one are open to others.
    for folder in (*reversed(profile.parents), profile, preferences.parent):
        if not folder.exists():
            folder.mkdir(mode=0o700)
    preferences.write_text(json.dumps(_PREFERENCES))


async def _first_reply(
    process: asyncio.subprocess.Process,
    pipe: socket.socket,
    written: _Stderr,
    draining: asyncio.Task[None],
    deadline: Deadline,
) -> str:
    """Waits until Chromium serves its pipe; its product."""
    loop = asyncio.get_running_loop()
    pipe.setblocking(False)
    received = b""
    async with deadline.bound("starting Chromium", written.tail):
        with contextlib.suppress(ConnectionError):
            await loop.sock_sendall(pipe, b'{"id":1,"method":"Browser.getVersion"}\0')
            while not received.endswith(b"\0") and (piece := await loop.sock_recv(pipe, 64 * 1024)):
                received += piece
        if received.endswith(b"\0"):
            return str(json.loads(received[:-1])["result"]["product"])
        await process.wait()
    # Its exit may be noticed before its stderr was read.
    await asyncio.wait({draining}, timeout=_LAST_WORDS_S)
    raise VirtualDeviceFailed(
        f"Chromium exited with {process.returncode} before it was ready: {written.tail()}",
        stderr="\n".join(written.lines),
    )


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
