"""Fetches old Chromium builds, so that the virtual device runs on the engine of an old WebView.

The builds are those of npm packages for serverless functions (Linux x86-64 only): a Brotli-compressed `headless_shell`
and tar archives with the shared libraries that it needs. npm fetches each package; its SHA-256 is checked before it is
unpacked. Engines live in the cache: WEBVIEW_BRIDGE_CACHE, else $XDG_CACHE_HOME/webview-bridge, else
~/.cache/webview-bridge. Each has a program `chromium`, for BRIDGE_CHROMIUM or `--engine`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import brotli

from bridge.virtual_device.engine.old_engines import engine_program, engines_folder

_LIBRARIES = ("aws", "al2", "al2023")
_MAX_UNPACKED_BYTES = 1 << 30
# An old headless_shell ignores --version.
_LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then
    echo "Chromium VERSION"
    exit 0
fi
here="$(dirname "$(readlink -f "$0")")"
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/headless_shell" "$@"
"""


@dataclass(frozen=True)
class Build:
    """A Chromium inside of an npm package."""

    package: str
    sha256: str


BUILDS = {
    91: Build("chrome-aws-lambda@9.1.0", "18d7c042802093f851a91e3b09fb417639ab4cfa33cc5a8ebbc92df7d15b0601"),
    103: Build("@sparticuz/chromium@103.0.0", "88f1af268022584ffd0e4b58a68c8bd63b55f247b7c84481c719f362fb2be43a"),
    113: Build("@sparticuz/chromium@113.0.1", "63256680210aeca629b8b27386ff544a845a346fbcfd2883cd2117b67c4bcd24"),
    123: Build("@sparticuz/chromium@123.0.1", "aaea4974705da9ab96532b6aceda68afdcc83bb5139f1921f03b3530a0bf7a69"),
    133: Build("@sparticuz/chromium@133.0.0", "9eb9776cb8623a7e80e2f3acbbf8d7e686d0652eb98a57e9abbd2e618c9263ad"),
    143: Build("@sparticuz/chromium@143.0.4", "d69d6790c17a62b70dc3e8acfd774b6c1f780f229e5601f50264dbc434b5cf94"),
    148: Build("@sparticuz/chromium@148.0.0", "673b12a186e569ea600d87d3200fb5a6f1a14639bc19b06fb6fdb6fc86a8195b"),
}


class FetchFailed(Exception):
    """An engine could not be fetched or does not run here."""


def fetch(version: int) -> Path:
    """The program of that engine, fetched unless it is in the cache."""
    program = engine_program(version)
    if program.exists():
        return program
    build = BUILDS[version]
    print(f"engines: fetching Chromium {version} ({build.package})", file=sys.stderr)
    folder = engines_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        archive = _download(build, Path(scratch))
        made = Path(scratch) / "engine"
        _unpack(archive, version, made)
        with contextlib.suppress(OSError):  # a concurrent run was faster
            made.rename(program.parent)
    return program


def _download(build: Build, scratch: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise FetchFailed("npm is not on the PATH (Debian: apt-get install npm).")
    done = subprocess.run(
        [npm, "pack", "--silent", build.package], cwd=scratch, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise FetchFailed(f"npm pack {build.package} failed: {done.stderr.strip()[-500:]}")
    archive = scratch / done.stdout.split()[-1]
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != build.sha256:
        raise FetchFailed(f"{build.package} has the SHA-256 {digest}, not {build.sha256}.")
    return archive


def _unpack(archive: Path, version: int, folder: Path) -> None:
    libraries = folder / "lib"
    libraries.mkdir(parents=True)
    full_version = None
    for name, content in _packed(archive):
        if name == "chromium":
            full_version = re.search(rb"\b%d\.0\.\d{4}\.\d{1,3}\b" % version, content)
            program = folder / "headless_shell"
            program.write_bytes(content)
            program.chmod(0o755)
        elif name == "swiftshader.tar":
            _unpack_libraries(content, folder)
        elif name.removesuffix(".tar") in _LIBRARIES:
            _unpack_libraries(content, libraries)
    if full_version is None:
        raise FetchFailed(f"{archive.name} does not contain Chromium {version}.")
    (folder / "swiftshader").symlink_to(".")  # where builds before 92 look for their GL library
    launcher = folder / "chromium"
    launcher.write_text(_LAUNCHER.replace("VERSION", full_version[0].decode()))
    launcher.chmod(0o755)


def _packed(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The Brotli-compressed files in the package, by name without `.br`."""
    with tarfile.open(archive) as package:
        for entry in package:
            if entry.isfile() and entry.name.startswith("package/bin/") and entry.name.endswith(".br"):
                file = package.extractfile(entry)
                assert file is not None
                content = brotli.decompress(file.read())
                if len(content) > _MAX_UNPACKED_BYTES:
                    raise FetchFailed(f"{entry.name} unpacks to {len(content)} bytes.")
                yield Path(entry.name).name.removesuffix(".br"), content


def _unpack_libraries(archive: bytes, folder: Path) -> None:
    """Shared libraries by their last name: Chromium finds them by the launcher's LD_LIBRARY_PATH."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as libraries:
        for entry in libraries:
            file = libraries.extractfile(entry) if entry.isfile() or entry.issym() else None
            if file is not None and ".so" in entry.name:
                (folder / Path(entry.name).name).write_bytes(file.read())


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/engines", description=__doc__.partition("\n")[0])
    parser.add_argument("versions", nargs="*", type=int, metavar="VERSION")
    parser.add_argument("--list", action="store_true", help="list the engines instead of fetching")
    arguments = parser.parse_args()
    if unknown := set(arguments.versions) - set(BUILDS):
        parser.error(
            f"there is no build of {', '.join(map(str, sorted(unknown)))}; choose from {', '.join(map(str, BUILDS))}"
        )
    for version in arguments.versions or BUILDS:
        if arguments.list:
            print(version, BUILDS[version].package, "cached" if engine_program(version).exists() else "-")
            continue
        try:
            print(fetch(version))
        except FetchFailed as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
