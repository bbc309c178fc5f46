"""The installed packages, and the package manager's rules for changing them."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bridge.virtual_device.android.apk import ApkFacts, InstallError, read_apk
from bridge.virtual_device.android.files import DeviceFiles

FIRST_APP_UID = 10_150


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package; `apk_path` is on the device. Any signer may replace a preinstalled one without signer."""

    facts: ApkFacts
    apk_path: str
    uid: int
    is_system: bool = False
    is_enabled: bool = True
    installed_at: float = 0.0
    updated_at: float = 0.0
    granted: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.facts.package


def stub_facts(package: str, version_name: str, version_code: int, **changes: object) -> ApkFacts:
    """Facts of a package of the system image, which has no APK here."""
    facts = ApkFacts(package, version_code, version_name, 26, 34, True, False, (), (), (), "")
    return replace(facts, **changes)  # type: ignore[arg-type]


def webview_version_code(version_name: str) -> int:
    """Chromium's code for "156.0.8078.79" is 807807933: build, patch in three digits, and the kind of package.

    Source: chromium `build/util/android_chrome_version.py`; 33 is a 64-bit stand-alone WebView.
    """
    *_, build, patch = ("0.0." + version_name).split(".")
    return int(f"{build}{int(patch):03d}33") if build.isdecimal() and patch.isdecimal() else 1


class PackageTable:
    """The installed packages. `on_change(name)` runs after a package was installed, replaced or removed."""

    def __init__(self, files: DeviceFiles, store: Path, api_level: int) -> None:
        self.on_change: Callable[[str], None] = lambda _name: None
        self._files = files
        self._store = store
        self._api_level = api_level
        self._packages: dict[str, Package] = {}
        self._next_uid = FIRST_APP_UID
        store.mkdir(parents=True, exist_ok=True)

    def get(self, name: str) -> Package | None:
        return self._packages.get(name)

    def all(self) -> list[Package]:
        return [self._packages[name] for name in sorted(self._packages)]

    def preinstall(self, facts: ApkFacts, apk_path: str, *, is_system: bool = True) -> None:
        """Adds a package without any checks."""
        uid = 1000 if is_system else self._take_uid(facts.package)
        now = time.time()
        self._packages[facts.package] = Package(facts, apk_path, uid, is_system, True, now, now)

    def install(self, apk: Path, *, allow_downgrade: bool = False, replace_existing: bool = True) -> Package:
        """Installs a copy of a file of this machine.

        Raises:
            InstallError: Android's package manager would refuse it.
        """
        facts = read_apk(apk)
        old = self._packages.get(facts.package)
        self._check(facts, old, allow_downgrade=allow_downgrade, replace_existing=replace_existing)
        kept = self._store / f"{facts.package}.apk"
        shutil.copyfile(apk, kept)
        if old is not None:
            self._files.withdraw(old.apk_path)
        folder = f"/data/app/~~{secrets.token_urlsafe(16)}==/{facts.package}-{secrets.token_urlsafe(16)}=="
        now = time.time()
        package = Package(
            facts,
            f"{folder}/base.apk",
            self._take_uid(facts.package),
            installed_at=old.installed_at if old else now,
            updated_at=now,
        )
        self._packages[facts.package] = package
        self._files.provide(package.apk_path, kept)
        self.on_change(facts.package)
        return package

    def uninstall(self, name: str) -> None:
        """Removes an application.

        Raises:
            InstallError: DELETE_FAILED_INTERNAL_ERROR if it is not installed or part of the system.
        """
        package = self._packages.get(name)
        if package is None or package.is_system:
            raise InstallError("DELETE_FAILED_INTERNAL_ERROR")
        del self._packages[name]
        self._files.withdraw(package.apk_path)
        with contextlib.suppress(FileNotFoundError):
            (self._store / f"{name}.apk").unlink()
        self.on_change(name)

    def grant(self, name: str, permission: str) -> None:
        package = self._packages[name]
        self._packages[name] = replace(package, granted=package.granted | {permission})

    def revoke(self, name: str, permission: str) -> None:
        package = self._packages[name]
        self._packages[name] = replace(package, granted=package.granted - {permission})

    def set_enabled(self, name: str, enabled: bool) -> None:
        self._packages[name] = replace(self._packages[name], is_enabled=enabled)

    def update_facts(self, facts: ApkFacts) -> None:
        """Changes the version of a system package (a WebView update)."""
        self._packages[facts.package] = replace(self._packages[facts.package], facts=facts, updated_at=time.time())
        self.on_change(facts.package)

    def _check(self, facts: ApkFacts, old: Package | None, *, allow_downgrade: bool, replace_existing: bool) -> None:
        if facts.min_sdk > self._api_level:
            reason = f"Requires newer sdk version #{facts.min_sdk} (current version is #{self._api_level})"
            raise InstallError("INSTALL_FAILED_OLDER_SDK", reason)
        if self._api_level >= 34 and facts.target_sdk < 23:
            reason = f"App package must target at least SDK version 23, but found {facts.target_sdk}"
            raise InstallError("INSTALL_FAILED_DEPRECATED_SDK_VERSION", reason)
        if old is None or not old.facts.signer:
            return
        if not replace_existing:
            reason = f"Attempt to re-install {facts.package} without first uninstalling."
            raise InstallError("INSTALL_FAILED_ALREADY_EXISTS", reason)
        if facts.signer != old.facts.signer:
            reason = (
                f"Existing package {facts.package} signatures do not match newer version; ignoring!"
                if self._api_level >= 34
                else f"Package {facts.package} signatures do not match previously installed version; ignoring!"
            )
            raise InstallError("INSTALL_FAILED_UPDATE_INCOMPATIBLE", reason)
        if facts.version_code < old.facts.version_code and not allow_downgrade:
            reason = (
                f"Downgrade detected: Update version code {facts.version_code} "
                f"is older than current {old.facts.version_code}"
            )
            raise InstallError("INSTALL_FAILED_VERSION_DOWNGRADE", reason)

    def _take_uid(self, name: str) -> int:
        if name in self._packages and not self._packages[name].is_system:
            return self._packages[name].uid
        self._next_uid += 1
        return self._next_uid
