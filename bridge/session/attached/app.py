"""A foreign app, and how one of its pages is selected."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bridge.adb import AdbDevice
from bridge.cdp.discovery import Target
from bridge.errors import HostFailed, UsageError
from bridge.page.url_pattern import UrlPattern, url_pattern

_PACKAGE = re.compile(r"[A-Za-z][\w]*(\.[A-Za-z][\w]*)+")
# Chrome and its channels share one socket name; the endpoint behind it reports its package.
_CHROMES = re.compile(r"(com\.android\.chrome|com\.chrome\.\w+|org\.chromium\.\w+)")


@dataclass(frozen=True, slots=True)
class App:
    """The app and its launch: `activity` is `.MainActivity` or a full class name, `data` an address."""

    package: str
    activity: str | None = None
    data: str | None = None

    def __post_init__(self) -> None:
        if not _PACKAGE.fullmatch(self.package):
            raise UsageError(f"{self.package!r} is not a valid package name", hint='Such as "com.example.app".')

    @property
    def is_chrome(self) -> bool:
        return _CHROMES.fullmatch(self.package) is not None

    async def launch(self, device: AdbDevice, *, timeout_s: float) -> None:
        """
        Raises:
            HostFailed: Android did not start it; the message quotes its output.
        """
        command = ["am", "start", "-n", f"{self.package}/{self.activity}"]
        if self.data is not None:
            command += ["-a", "android.intent.action.VIEW", "-d", self.data]
        result = await device.shell(command, timeout_s=timeout_s)
        output = (result.stdout + result.stderr).strip()
        if result.exit_code != 0 or any(line.startswith(("Error", "Exception")) for line in output.splitlines()):
            raise HostFailed(f"the start of {self.package}", f"am ended with {result.exit_code}", output[:500])


@dataclass(frozen=True, slots=True)
class AppPage:
    """A page of the app: its devtools socket, the process that serves it (if known), and its target."""

    socket_name: str
    pid: int | None
    target: Target


class PageSelector:
    """Selects a page by a URL pattern, by words in its title, or (neither) any page."""

    def __init__(self, url: str | None, title: str | None) -> None:
        self._url: UrlPattern | None = url_pattern(url) if url is not None else None
        self._title = title

    def matches(self, target: Target) -> bool:
        if self._url is not None and not self._url.matches(target.url):
            return False
        return self._title is None or self._title.casefold() in target.title.casefold()

    def __str__(self) -> str:
        by = [f"url {self._url.text!r}"] if self._url else []
        by += [f"title {self._title!r}"] if self._title is not None else []
        return " and ".join(by) or "any address"
