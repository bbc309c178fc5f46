"""`host`: installs, starts, stops and removes the host app on a device."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bridge.errors import HostVersionMismatch
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import EXISTING_FILE, TEXT, CommonOptions, common_options
from bridge.surfaces.cli.output import is_terminal, note, one_line, print_json

if TYPE_CHECKING:
    from bridge.adb import AdbDevice
    from bridge.surfaces.cli.runner import CommandProgress

C = TypeVar("C", bound=Callable[..., Any])

ADB_TIMEOUT_S = 20.0
ASK_TIMEOUT_S = 20.0
BUILD_TIMEOUT_S = 600.0
INSTALL_TIMEOUT_S = 180.0
START_TIMEOUT_S = 45.0

_device_option = click.option(
    "--device", type=TEXT, default="auto", show_default=True, metavar="auto|virtual|SERIAL", help="The device."
)
_force_option = click.option(
    "--force", is_flag=True, help="Do it even while a session on this machine uses the device; that session breaks."
)


@click.group(cls=Commands)
def host() -> None:
    """The host app on a device, which renders the WebViews."""


@host.command()
@_device_option
@_force_option
@click.option(
    "--apk",
    type=EXISTING_FILE,
    metavar="FILE",
    help="Use this APK instead of the packaged one.",
)
@common_options
def install(options: CommonOptions, device: str, force: bool, apk: Path | None) -> None:
    """Install or update the host app. In a source checkout a missing or outdated APK is built first.

    An app with another signature or a newer version is removed first. With --json: device, action, version, before,
    why.
    """
    import bridge
    from bridge.host.apk import ready_apk
    from bridge.host.installation import install_host

    async def work(chosen: AdbDevice, progress: CommandProgress) -> HostResult:
        build_s = progress.begin("building the host app", BUILD_TIMEOUT_S)
        source = apk or await ready_apk(note, timeout_s=build_s)
        with _exclusive(chosen, force), _progress("installing", quiet=options.as_json) as on_progress:
            done = await install_host(
                chosen,
                source,
                timeout_s=progress.begin("installing the host app", INSTALL_TIMEOUT_S),
                on_progress=on_progress,
                report=note,
            )
        if apk is None and done.version_name != bridge.__version__:
            note(f"the host app has version {done.version_name}, this is webview-bridge {bridge.__version__}")
        results = {"action": done.action, "version": done.version_name, "before": done.before, "why": done.why}
        was = f", was {done.before}" if done.before else ""
        return HostResult(results, f"{done.action} host app {done.version_name} on {chosen.serial}{was}")

    _run("host install", options, device, work)


@host.command()
@_device_option
@click.option("--instrument", is_flag=True, help="Start it by 'am instrument', for phones that kill services.")
@common_options
def start(options: CommonOptions, device: str, instrument: bool) -> None:
    """Start the host app, perform the handshake and print its properties.

    It exits after 30 s unless a session uses it. With --json: device, host: {app_version, protocol, api_level,
    pid, webview, devtools_socket, max_tabs, idle_timeout_s, features}.
    """
    import os
    from dataclasses import asdict

    from bridge.host.launch import Plan, start_host

    plans: tuple[Plan, ...] = ("instrumentation",) if instrument else ("service", "instrumentation")

    async def work(chosen: AdbDevice, progress: CommandProgress) -> HostResult:
        timeout_s = progress.begin("starting the host app", START_TIMEOUT_S)
        async with start_host(
            chosen, owner=f"pid {os.getpid()}", policy_digest="", timeout_s=timeout_s, plans=plans
        ) as client:
            hello = client.hello
        if not options.as_json:
            note("it exits after 30 s without a session")
        return HostResult(
            {"host": asdict(hello)},
            f"host app {hello.app_version} on {chosen.serial}: protocol {hello.protocol}, process {hello.pid}, "
            f"API {hello.api_level}, {hello.webview_package} {hello.webview_version}",
        )

    _run("host start", options, device, work)


@host.command()
@_device_option
@_force_option
@common_options
def stop(options: CommonOptions, device: str, force: bool) -> None:
    """Stop the host app's process and its tabs; cookies are kept. With --json: device, stopped."""
    from bridge.host.installation import stop_host

    async def work(chosen: AdbDevice, progress: CommandProgress) -> HostResult:
        with _exclusive(chosen, force):
            stopped = await stop_host(chosen, timeout_s=progress.begin("stopping the host app", ASK_TIMEOUT_S))
        said = f"stopped the host app on {chosen.serial}" if stopped else "the host app was not running"
        return HostResult({"stopped": stopped}, said)

    _run("host stop", options, device, work)


@host.command()
@_device_option
@common_options
def status(options: CommonOptions, device: str) -> None:
    """Print whether the host app is installed, matches this version, runs, and which session of this machine uses it.

    With --json: device, installed, version, matches, apk_path, pids, held_by, apk (local path or null).
    """
    import bridge
    from bridge.host.apk import APK
    from bridge.host.installation import host_pids, installed_host
    from bridge.host.lease import held_by, lease_key

    async def work(chosen: AdbDevice, progress: CommandProgress) -> HostResult:
        found = await installed_host(chosen, timeout_s=progress.begin("querying the package manager", ASK_TIMEOUT_S))
        pids = await host_pids(chosen, timeout_s=progress.begin("querying its process", ASK_TIMEOUT_S))
        holder = held_by(lease_key(chosen))
        matches = found is not None and found.version_name == bridge.__version__
        results = {
            "installed": found is not None,
            "version": found.version_name if found else None,
            "matches": matches,
            "apk_path": found.apk_path if found else None,
            "pids": list(pids),
            "held_by": holder,
            "apk": str(APK) if APK.is_file() else None,
        }
        used_by = f"used by: {holder or 'no session of this machine'}"
        if found is None:
            return HostResult(results, f"not installed on {chosen.serial}; webview-bridge host install", used_by)
        fits = "" if matches else f" (this is webview-bridge {bridge.__version__}: webview-bridge host install)"
        return HostResult(
            results,
            f"installed on {chosen.serial}: version {found.version_name}{fits}",
            f"running: {'process ' + ', '.join(map(str, pids)) if pids else 'no'}",
            used_by,
        )

    _run("host status", options, device, work)


@host.command()
@_device_option
@_force_option
@common_options
def uninstall(options: CommonOptions, device: str, force: bool) -> None:
    """Remove the host app with the cookies and storage of its pages. With --json: device, removed."""
    from bridge.host.installation import uninstall_host

    async def work(chosen: AdbDevice, progress: CommandProgress) -> HostResult:
        with _exclusive(chosen, force):
            removed = await uninstall_host(chosen, timeout_s=progress.begin("removing the host app", ASK_TIMEOUT_S))
        said = (
            f"removed the host app from {chosen.serial}"
            if removed
            else f"the host app is not installed on {chosen.serial}"
        )
        return HostResult({"removed": removed}, said)

    _run("host uninstall", options, device, work)


class HostResult:
    """The result of a host command as JSON and as lines."""

    def __init__(self, results: Mapping[str, Any], *lines: str) -> None:
        self.results = results
        self.lines = lines


def _run(
    command: str,
    options: CommonOptions,
    wanted: str,
    work: Callable[[AdbDevice, CommandProgress], Coroutine[Any, Any, HostResult]],
) -> None:
    """Run `work` on the device and print its result."""
    from bridge.surfaces.cli.runner import CommandProgress, run_async

    progress = CommandProgress(options.timeout_s)

    async def work_and_print() -> None:
        try:
            async with _opened(options, wanted, progress) as chosen:
                said = await work(chosen, progress)
        except HostVersionMismatch as error:
            raise HostVersionMismatch(
                error.message, hint="'webview-bridge host install' installs the matching version.", **error.details
            ) from error
        if options.as_json:
            print_json(command, {"device": chosen.serial, **said.results})
        else:
            for line in said.lines:
                click.echo(one_line(line))

    run_async(command, options, progress, work_and_print())


@asynccontextmanager
async def _opened(options: CommonOptions, wanted: str, progress: CommandProgress) -> AsyncIterator[AdbDevice]:
    """The chosen device; a virtual one only if it already runs.

    Raises:
        NoDevice, DeviceNotFound, DeviceAmbiguous, DeviceUnauthorized, DeviceOffline
    """
    from bridge.adb import AdbServer
    from bridge.session import select_device
    from bridge.surfaces.composition import RunningVirtualDevices

    server = AdbServer.from_environment(options.adb_server)
    await server.ensure_running(timeout_s=progress.begin("reaching the adb server", ADB_TIMEOUT_S))
    timeout_s = progress.begin("finding the device", ADB_TIMEOUT_S)
    async with select_device(server, wanted, RunningVirtualDevices(), lambda _: None, timeout_s=timeout_s) as chosen:
        yield server.device(chosen.serial)


def _exclusive(device: AdbDevice, force: bool) -> Any:
    """Hold the device's lease while the block runs, unless by force.

    Raises:
        DeviceBusy: A session of this machine holds it.
    """
    import os

    from bridge.host.lease import hold_lease, lease_key

    if force:
        return nullcontext()
    return hold_lease(lease_key(device), owner=f"pid {os.getpid()}", policy_digest="host command")


@contextmanager
def _progress(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr if stdout and stderr are terminals."""
    import sys

    if quiet or not is_terminal() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


COMMANDS = (host,)
