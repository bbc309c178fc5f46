"""`pm` and `cmd package`, with the package manager's messages (AOSP `PackageManagerShellCommand.java`)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator

from bridge.virtual_device.android import MAX_APK_BYTES, InstallError, Package
from bridge.virtual_device.shell.call import Call, command

_VALUE_OPTIONS = {"--user", "-i", "-S", "--install-location", "--install-reason", "--abi", "--pkg", "--originating-uri"}


class _PmArguments:
    """The arguments of a `pm` command: options, with a value where pm takes one, and the rest."""

    def __init__(self, words: list[str]) -> None:
        self.options: dict[str, str] = {}
        self.rest: list[str] = []
        pending = iter(words)
        for word in pending:
            if word in _VALUE_OPTIONS:
                self.options[word] = next(pending, "")
            elif word.startswith("-") and word != "-":
                self.options[word] = ""
            else:
                self.rest.append(word)


@command("pm")
async def pm(call: Call) -> int:
    return await package_service(call, call.args)


async def package_service(call: Call, words: list[str]) -> int:
    """Shared by `pm …`, `cmd package …` and adb's abb service."""
    if not words:
        await call.line("Package manager (package) commands:\n  help\n  path\n  list packages\n  install\n  uninstall")
        return 1
    verb, arguments = words[0], _PmArguments(words[1:])
    match verb:
        case "install":
            return await _install(call, arguments)
        case "uninstall":
            return await _uninstall(call, arguments)
        case "path":
            return await _path(call, arguments)
        case "list":
            return await _list(call, arguments)
        case "clear":
            return await _clear(call, arguments)
        case "grant" | "revoke":
            return await _grant(call, verb, arguments)
        case "enable" | "disable" | "disable-user":
            return await _enable(call, verb, arguments)
        case "dump":
            return await _dump(call, arguments)
        case "resolve-activity" | "query-activities":
            await call.line("No activity found")
            return 0
        case "get-install-location":
            await call.line("0[auto]")
            return 0
        case "trim-caches" | "compile" | "bg-dexopt-job" | "has-feature" | "set-installer":
            await call.line("Success" if verb == "compile" else "true")
            return 0
    await call.error(f"Unknown command: {verb}")
    return 255


async def _install(call: Call, arguments: _PmArguments) -> int:
    folder = call.system.folder / "incoming"
    folder.mkdir(exist_ok=True)
    staged = folder / f"{secrets.token_hex(8)}.apk"
    size = arguments.options.get("-S", "")
    if size and (not size.isdecimal() or int(size) > MAX_APK_BYTES):
        return await _install_failed(call, InstallError("INSTALL_FAILED_INSUFFICIENT_STORAGE"))
    if not size and not arguments.rest:
        await call.error("Error: must either specify a package size or an APK file")
        return 1
    try:
        with staged.open("wb") as file:
            if size:
                missing = int(size)
                while missing > 0 and (chunk := await call.stdin.read()):
                    file.write(chunk[:missing])
                    missing -= len(chunk)
                if missing > 0:
                    error = InstallError("INSTALL_FAILED_INVALID_APK", f"the stream ended {missing} bytes early")
                    return await _install_failed(call, error)
            else:
                for chunk in call.system.files.read_chunks(call.path(arguments.rest[0]), 1 << 20):
                    file.write(chunk)
        package = call.system.packages.install(
            staged,
            allow_downgrade="-d" in arguments.options,
            replace_existing="-R" not in arguments.options,
        )
    except InstallError as refusal:
        return await _install_failed(call, refusal)
    except OSError as error:
        await call.error(f"Error: Unable to open file: {arguments.rest[0] if arguments.rest else '-'}")
        await call.error(f"Error: {error.strerror}")
        return 1
    finally:
        staged.unlink(missing_ok=True)
    await call.system.stop_package(package.name)  # an update ends the running application
    call.system.log("PackageManager", f"Update package {package.name}, versionCode={package.facts.version_code}")
    await call.line("Success")
    return 0


async def _install_failed(call: Call, refusal: InstallError) -> int:
    await call.line(f"Failure [{refusal}]")
    return 1


async def _uninstall(call: Call, arguments: _PmArguments) -> int:
    if not arguments.rest:
        await call.error("Error: package name not specified")
        return 1
    try:
        await call.system.stop_package(arguments.rest[0])
        call.system.packages.uninstall(arguments.rest[0])
    except InstallError as refusal:
        return await _install_failed(call, refusal)
    await call.line("Success")
    return 0


async def _path(call: Call, arguments: _PmArguments) -> int:
    found = call.system.packages.get(arguments.rest[0]) if arguments.rest else None
    if found is None:
        return 1
    await call.line(f"package:{found.apk_path}")
    return 0


async def _list(call: Call, arguments: _PmArguments) -> int:
    what, *patterns = arguments.rest or [""]
    if what in ("packages", "package"):
        for package in _chosen(call, arguments.options, patterns):
            prefix = f"{package.apk_path}=" if "-f" in arguments.options else ""
            uid = f" uid:{package.uid}" if "-U" in arguments.options else ""
            code = f" versionCode:{package.facts.version_code}" if "--show-versioncode" in arguments.options else ""
            installer = "  installer=null" if "-i" in arguments.options else ""
            await call.line(f"package:{prefix}{package.name}{code}{installer}{uid}")
        return 0
    if what == "features":
        for feature in ("android.hardware.touchscreen", "android.hardware.wifi", "android.software.webview"):
            await call.line(f"feature:{feature}")
        return 0
    if what == "users":
        await call.line("Users:\n\tUserInfo{0:Owner:4c13} running")
        return 0
    if what in ("instrumentation", "libraries", "permissions", "permission-groups"):
        return 0
    await call.error(f"Error: unknown list type '{what}'")
    return 255


def _chosen(call: Call, options: dict[str, str], patterns: list[str]) -> Iterator[Package]:
    for package in call.system.packages.all():
        hidden = (
            ("-3" in options and package.is_system)
            or ("-s" in options and not package.is_system)
            or ("-e" in options and not package.is_enabled)
            or ("-d" in options and package.is_enabled)
            or (patterns and patterns[0] not in package.name)
        )
        if not hidden:
            yield package


async def _clear(call: Call, arguments: _PmArguments) -> int:
    if not arguments.rest or call.system.packages.get(arguments.rest[0]) is None:
        await call.line("Failed")
        return 1
    await call.system.stop_package(arguments.rest[0])
    await call.line("Success")
    return 0


async def _grant(call: Call, verb: str, arguments: _PmArguments) -> int:
    name, permission = (*arguments.rest, "", "")[:2]
    found = call.system.packages.get(name)
    if found is None:
        await call.error("\nException occurred while executing '" + verb + "':")
        await call.error(f"java.lang.IllegalArgumentException: Unknown package: {name}")
        return 255
    if permission not in found.facts.permissions:
        await call.error("\nException occurred while executing '" + verb + "':")
        await call.error(f"java.lang.SecurityException: Package {name} has not requested permission {permission}")
        return 255
    (call.system.packages.grant if verb == "grant" else call.system.packages.revoke)(name, permission)
    return 0


async def _enable(call: Call, verb: str, arguments: _PmArguments) -> int:
    name = arguments.rest[0] if arguments.rest else ""
    if call.system.packages.get(name) is None:
        await call.error(f"Error: java.lang.IllegalArgumentException: Unknown package: {name}")
        return 255
    call.system.packages.set_enabled(name, verb == "enable")
    state = {"enable": "enabled", "disable": "disabled", "disable-user": "disabled-user"}[verb]
    await call.line(f"Package {name} new state: {state}")
    return 0


async def _dump(call: Call, arguments: _PmArguments) -> int:
    found = call.system.packages.get(arguments.rest[0]) if arguments.rest else None
    if found is None:
        await call.line(f"Unable to find package: {arguments.rest[0] if arguments.rest else ''}")
        return 0
    await call.out(describe(found))
    return 0


def describe(package: Package) -> str:
    """The output of `dumpsys package NAME`."""
    facts = package.facts
    stamp = "%Y-%m-%d %H:%M:%S"
    lines = [
        "Packages:",
        f"  Package [{facts.package}] (7e1a2b3):",
        f"    userId={package.uid}",
        f"    pkg=Package{{1f2e3d4 {facts.package}}}",
        f"    codePath={package.apk_path.rpartition('/')[0]}",
        f"    versionCode={facts.version_code} minSdk={facts.min_sdk} targetSdk={facts.target_sdk}",
        f"    versionName={facts.version_name}",
        f"    flags=[ {'DEBUGGABLE ' if facts.is_debuggable else ''}HAS_CODE {'SYSTEM ' if package.is_system else ''}]",
        f"    firstInstallTime={time.strftime(stamp, time.gmtime(package.installed_at))}",
        f"    lastUpdateTime={time.strftime(stamp, time.gmtime(package.updated_at))}",
        f"    signatures=PackageSignatures{{version:2, signatures:[{facts.signer[:8] or '0'}]}}",
        "    requested permissions:",
        *(f"      {name}" for name in facts.permissions),
        "    User 0: installed=true hidden=false stopped=false enabled=" + ("0" if package.is_enabled else "2"),
        "      runtime permissions:",
        *(f"        {name}: granted=true" for name in sorted(package.granted)),
    ]
    return "\n".join(lines) + "\n"
