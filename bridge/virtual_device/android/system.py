"""The running system that shell commands read and change."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bridge.virtual_device.android.apk import Component, full_class_name
from bridge.virtual_device.android.file_tree import SHARED_FOLDERS
from bridge.virtual_device.android.files import DeviceFiles
from bridge.virtual_device.android.logcat import LogBuffer
from bridge.virtual_device.android.packages import PackageTable, stub_facts
from bridge.virtual_device.android.properties import Properties
from bridge.virtual_device.android.sockets import AbstractSockets

HOST_PACKAGE = "dev.webviewbridge.host"
HOST_SERVICE = "dev.webviewbridge.host/dev.webviewbridge.host.HostService"
WEBVIEW_PACKAGE = "com.google.android.webview"

StartService = Callable[[Mapping[str, str]], Awaitable[None]]
StopService = Callable[[], Awaitable[None]]
# (package, address in the intent's data)
StartActivity = Callable[[str, str], Awaitable[None]]


@dataclass(slots=True)
class Process:
    """One process as `ps` and /proc show it.

    Attributes:
        oom_score_adj: 0 in the foreground, 200 with a foreground service, from 900 on cached in the background.
    """

    pid: int
    name: str
    user: str
    parent: int = 1
    uid: int = 0
    oom_score_adj: int = 0
    is_frozen: bool = False
    started_at: float = field(default_factory=time.monotonic)

    @property
    def cgroup(self) -> str:
        return f"/uid_{self.uid}/pid_{self.pid}"


@dataclass(slots=True)
class Display:
    """The built-in display."""

    width_px: int = 412
    height_px: int = 915
    density_dpi: int = 160
    override_size: tuple[int, int] | None = None
    override_density: int | None = None


@dataclass(slots=True)
class Power:
    """The screen and doze, as `input keyevent` and `dumpsys deviceidle` change them.

    Attributes:
        on_change: Called after each change.
    """

    is_awake: bool = True
    is_idle_forced: bool = False
    on_change: Callable[[], None] = field(default=lambda: None)

    def wake(self, is_awake: bool) -> None:
        self.is_awake = is_awake
        self.on_change()

    def force_idle(self, is_idle_forced: bool) -> None:
        self.is_idle_forced = is_idle_forced
        self.on_change()


@dataclass(frozen=True, slots=True)
class RunnableService:
    """A service whose code runs here: the fake host app."""

    start: StartService
    stop: StopService


def normalize_component(component: str) -> str:
    """Expands `pkg/.Cls` to `pkg/pkg.Cls`; "" if it is not a component name."""
    package, slash, name = component.partition("/")
    return f"{package}/{full_class_name(package, name)}" if slash and package and name else ""


@dataclass(slots=True)
class AndroidSystem:
    """The state of the device apart from adb and Chromium."""

    api_level: int
    serial: str
    folder: Path
    properties: Properties = field(init=False)
    files: DeviceFiles = field(init=False)
    packages: PackageTable = field(init=False)
    sockets: AbstractSockets = field(default_factory=AbstractSockets)
    logcat: LogBuffer = field(default_factory=LogBuffer)
    display: Display = field(default_factory=Display)
    power: Power = field(default_factory=Power)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    processes: dict[int, Process] = field(default_factory=dict)
    services: dict[str, RunnableService] = field(default_factory=dict)
    running_services: set[str] = field(default_factory=set)
    idle_whitelist: set[str] = field(default_factory=set)
    reboot: Callable[[], None] = field(default=lambda: None)
    start_activity: StartActivity | None = None
    stop_app: Callable[[str], Awaitable[None]] | None = None
    booted_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.properties = Properties(api_level=self.api_level, serial=self.serial)
        self.files = DeviceFiles(self.folder / "files")
        self.packages = PackageTable(self.files, self.folder / "apks", self.api_level)
        self.settings = {
            "system": {"screen_brightness": "102", "accelerometer_rotation": "0", "screen_off_timeout": "60000"},
            "secure": {"android_id": "0123456789abcdef", "user_setup_complete": "1"},
            "global": {
                "adb_enabled": "1",
                "airplane_mode_on": "0",
                "animator_duration_scale": "1.0",
                "device_provisioned": "1",
                "stay_on_while_plugged_in": "7",
                "transition_animation_scale": "1.0",
                "wifi_on": "1",
                "window_animation_scale": "1.0",
            },
        }
        for folder in SHARED_FOLDERS:
            self.files.mkdir(f"/sdcard/{folder}", parents=True)
        for pid, name, user, parent in (
            (1, "init", "root", 0),
            (321, "zygote64", "root", 1),
            (402, "adbd", "shell", 1),
            (612, "system_server", "system", 321),
            (855, "com.android.systemui", "u0_a120", 321),
        ):
            self.add_process(Process(pid, name, user, parent, oom_score_adj=-1000))
        for name in ("android", "com.android.shell", "com.android.settings", "com.android.systemui"):
            release = self.properties.get("ro.build.version.release")
            facts = stub_facts(name, release, self.api_level)
            self.packages.preinstall(facts, f"/system/priv-app/{name}/{name}.apk")
        files = self.files
        files.provide("/proc/net/unix", lambda: self.unix_sockets_table().encode())
        files.provide("/proc/version", lambda: b"Linux version 6.1.23-android14-4-virtual (x86_64)\n")
        files.provide("/proc/uptime", lambda: f"{self.uptime_s():.2f} {self.uptime_s():.2f}\n".encode())
        files.provide("/proc/meminfo", lambda: b"MemTotal:        2030396 kB\nMemFree:          400000 kB\n")
        files.provide("/proc/cpuinfo", lambda: b"processor\t: 0\nmodel name\t: virtual\n\nprocessor\t: 1\n")
        files.provide("/system/build.prop", lambda: "".join(f"{k}={v}\n" for k, v in self.properties).encode())
        files.provide("/dev/null", lambda: b"")
        files.provide("/dev/zero", lambda: b"")

    def uptime_s(self) -> float:
        return time.monotonic() - self.booted_at

    def restart_clock(self) -> None:
        """Resets the uptime after a boot."""
        self.booted_at = time.monotonic()

    def log(self, tag: str, text: str, *, priority: str = "I", pid: int = 612) -> None:
        self.logcat.write(tag, text, priority=priority, pid=pid)

    def add_process(self, process: Process) -> None:
        """Adds a process with its files in /proc and its cgroup."""
        self.processes[process.pid] = process
        for path, content in self._process_files(process).items():
            self.files.provide(path, content)

    def remove_process(self, pid: int) -> None:
        process = self.processes.pop(pid, None)
        if process is not None:
            for path in self._process_files(process):
                self.files.withdraw(path)

    def _process_files(self, process: Process) -> dict[str, Callable[[], bytes]]:
        start_ticks = int(process.started_at * 100)
        proc = f"/proc/{process.pid}"
        found: dict[str, Callable[[], bytes]] = {
            # proc(5): pid, comm, state, ppid, …, starttime as the 22nd field
            f"{proc}/stat": lambda: (
                f"{process.pid} ({process.name[-15:]}) S {process.parent} 0 0 0 -1 0{' 0' * 12} {start_ticks} 0\n"
            ).encode(),
            f"{proc}/oom_score_adj": lambda: b"%d\n" % process.oom_score_adj,
            f"{proc}/cgroup": lambda: f"0::{process.cgroup}\n".encode(),
        }
        if self.api_level >= 30:
            found[f"/sys/fs/cgroup{process.cgroup}/cgroup.freeze"] = lambda: b"%d\n" % process.is_frozen
        return found

    def unix_sockets_table(self) -> str:
        """/proc/net/unix as Linux prints it (net/unix/af_unix.c, unix_seq_show); 00010000 marks a listener."""
        rows = ["Num       RefCount Protocol Flags    Type St Inode Path"]
        fixed = [("/dev/socket/adbd", 5001), ("/dev/socket/logd", 5002), ("@jdwp-control", 5003)]
        named = [(f"@{name}", 20_000 + index) for index, name in enumerate(self.sockets.names())]
        rows += [f"{0:016x}: 00000002 00000000 00010000 0001 01 {inode:5} {path}" for path, inode in fixed + named]
        return "\n".join(rows) + "\n"

    def service_component(self, package: str, name: str) -> Component | None:
        """The service's entry in the manifest of its package."""
        found = self.packages.get(package)
        if found is None:
            return None
        for service in found.facts.services:
            if service.name == name:
                return service
        return None

    def register_service(self, component: str, start: StartService, stop: StopService) -> None:
        """Lets `am start-foreground-service -n COMPONENT` run code of this machine."""
        self.services[normalize_component(component)] = RunnableService(start, stop)

    async def start_service(self, component: str, extras: Mapping[str, str]) -> None:
        self.running_services.add(component)
        await self.services[component].start(extras)

    async def stop_package(self, package: str) -> None:
        """`am force-stop`: ends the services and processes of the package."""
        for component in [name for name in self.running_services if name.split("/")[0] == package]:
            self.running_services.discard(component)
            await self.services[component].stop()
        if self.stop_app is not None:
            await self.stop_app(package)
        for pid in [pid for pid, process in self.processes.items() if process.name.split(":")[0] == package]:
            self.remove_process(pid)
