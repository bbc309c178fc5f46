"""Reads the manifest and the signer of an APK. Sizes are bounded, because the file may be hostile."""

from __future__ import annotations

import hashlib
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from bridge.virtual_device.android import axml, der

MAX_APK_BYTES = 512 * 1024 * 1024
MAX_MANIFEST_BYTES = 2 * 1024 * 1024
MAX_SIGNATURE_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 65_535

# The exceptions of zipfile for a damaged archive.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, ValueError, OSError, NotImplementedError, RuntimeError, EOFError)

_SIGNING_BLOCK_MAGIC = b"APK Sig Block 42"
_SIGNATURE_V2, _SIGNATURE_V3 = 0x7109871A, 0xF05368C0


class InstallError(Exception):
    """The package manager refused: `code` such as `INSTALL_FAILED_…`, `reason` in its wording."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(f"{code}: {reason}" if reason else code)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Component:
    """A service or an activity; `name` is the full class name."""

    name: str
    is_exported: bool = False
    permission: str = ""


@dataclass(frozen=True, slots=True)
class ApkFacts:
    """Facts from the manifest; `signer` is the SHA-256 of the signing certificate."""

    package: str
    version_code: int
    version_name: str
    min_sdk: int
    target_sdk: int
    uses_cleartext_traffic: bool
    is_debuggable: bool
    services: tuple[Component, ...]
    activities: tuple[Component, ...]
    permissions: tuple[str, ...]
    signer: str
    instrumentations: tuple[str, ...] = ()


def read_apk(path: Path) -> ApkFacts:
    """Reads the APK in that file.

    Raises:
        InstallError: With the code of Android's package manager.
    """
    if path.stat().st_size > MAX_APK_BYTES:
        raise InstallError("INSTALL_FAILED_INSUFFICIENT_STORAGE", "Requested internal only, but not enough space")
    manifest = _read_manifest(path)
    try:
        root = axml.parse(manifest)
    except axml.MalformedXml as error:
        raise InstallError(
            "INSTALL_PARSE_FAILED_BAD_MANIFEST", f"Failed parsing AndroidManifest.xml: {error}"
        ) from error
    try:
        signer = _signer_v2(path) or _signer_v1(path)
    except (struct.error, IndexError, *_ZIP_ERRORS) as error:
        raise InstallError(
            "INSTALL_PARSE_FAILED_NO_CERTIFICATES", f"Failed collecting certificates: {error}"
        ) from error
    if not signer:
        reason = "Failed to collect certificates: Attempt to get length of null array"
        raise InstallError("INSTALL_PARSE_FAILED_NO_CERTIFICATES", reason)
    return _facts(root, signer)


def _read_manifest(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) > MAX_ENTRIES:
                raise InstallError("INSTALL_PARSE_FAILED_NOT_APK", f"Failed to parse base.apk: {len(names)} entries")
            return _bounded_entry(archive, "AndroidManifest.xml", MAX_MANIFEST_BYTES)
    except KeyError as error:
        reason = "Failed to parse base.apk: Corrupt XML binary file: no AndroidManifest.xml"
        raise InstallError("INSTALL_PARSE_FAILED_UNEXPECTED_EXCEPTION", reason) from error
    except _ZIP_ERRORS as error:
        raise InstallError("INSTALL_PARSE_FAILED_NOT_APK", f"Failed to parse base.apk: {error}") from error


def _bounded_entry(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """The bytes of an entry, without trusting the size in the directory. Android reads stored and deflated entries."""
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in a way that Android does not read")
    with archive.open(name) as entry:
        content = entry.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{name} is larger than {limit} bytes")
    return content


def _facts(root: axml.XmlElement, signer: str) -> ApkFacts:
    if root.name != "manifest" or not isinstance(package := root.attributes.get("package"), str) or not package:
        raise InstallError("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED", "<manifest> has no package name")
    if not all(part.isidentifier() for part in package.split(".")) or "." not in package:
        raise InstallError("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME", f"Invalid package name: {package[:80]}")
    sdk = root.find("uses-sdk") or axml.XmlElement("uses-sdk")
    application = root.find("application") or axml.XmlElement("application")
    min_sdk = _number(sdk.attributes.get("minSdkVersion"), 1)
    target_sdk = _number(sdk.attributes.get("targetSdkVersion"), min_sdk)
    cleartext = application.attributes.get("usesCleartextTraffic", target_sdk < 28)
    return ApkFacts(
        package=package,
        version_code=_number(root.attributes.get("versionCode"), 0),
        version_name=str(root.attributes.get("versionName", "")),
        min_sdk=min_sdk,
        target_sdk=target_sdk,
        uses_cleartext_traffic=cleartext in (True, "true"),
        is_debuggable=application.attributes.get("debuggable", False) in (True, "true"),
        services=_components(application, "service", package),
        activities=_components(application, "activity", package),
        permissions=tuple(str(use.attributes.get("name", "")) for use in root.find_all("uses-permission")),
        signer=signer,
        instrumentations=tuple(
            full_class_name(package, str(element.attributes.get("name", "")))
            for element in root.find_all("instrumentation")
        ),
    )


def _components(application: axml.XmlElement, kind: str, package: str) -> tuple[Component, ...]:
    return tuple(
        Component(
            full_class_name(package, str(element.attributes.get("name", ""))),
            element.attributes.get("exported", element.find("intent-filter") is not None) in (True, "true"),
            str(element.attributes.get("permission", "")),
        )
        for element in application.find_all(kind)
    )


def full_class_name(package: str, name: str) -> str:
    """`.Foo` and `Foo` are in the package; a name with a dot inside is complete."""
    if name.startswith("."):
        return package + name
    return name if "." in name else f"{package}.{name}"


def _number(value: axml.Value | None, default: int) -> int:
    if isinstance(value, int):
        return int(value)
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 12 else default


def _signer_v2(path: Path) -> str:
    """SHA-256 of the first certificate in the APK Signing Block (source.android.com, "APK signature scheme v2").

    "" if there is no such block.
    """
    with zipfile.ZipFile(path) as archive:
        directory_at = archive.start_dir
    with path.open("rb") as file:
        if directory_at < 32:
            return ""
        file.seek(directory_at - 24)
        (size,) = struct.unpack("<Q", file.read(8))
        if file.read(16) != _SIGNING_BLOCK_MAGIC:
            return ""
        if not 24 <= size <= min(MAX_SIGNATURE_BYTES, directory_at - 8):
            raise ValueError("the APK Signing Block has an invalid size")
        file.seek(directory_at - size)
        pairs = file.read(size - 24)
    blocks = dict(_signing_pairs(pairs))
    block = blocks.get(_SIGNATURE_V3) or blocks.get(_SIGNATURE_V2)
    if block is None:
        return ""
    signer, _ = _prefixed(_prefixed(block)[0])
    signed, _ = _prefixed(signer)
    _digests, rest = _prefixed(signed)
    certificates, _ = _prefixed(rest)
    certificate, _ = _prefixed(certificates)
    return hashlib.sha256(certificate).hexdigest()


def _signing_pairs(pairs: bytes) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    while pairs:
        (size,) = struct.unpack_from("<Q", pairs)
        if not 4 <= size <= len(pairs) - 8:
            raise ValueError("a pair exceeds the APK Signing Block")
        found.append((struct.unpack_from("<I", pairs, 8)[0], pairs[12 : 8 + size]))
        pairs = pairs[8 + size :]
    return found


def _prefixed(block: bytes) -> tuple[bytes, bytes]:
    """A u32-length-prefixed part and the rest."""
    (size,) = struct.unpack_from("<I", block)
    if size > len(block) - 4:
        raise ValueError("a length exceeds the signature")
    return block[4 : 4 + size], block[4 + size :]


def _signer_v1(path: Path) -> str:
    """SHA-256 of the first certificate in META-INF's PKCS#7 signature (RFC 2315 §9.1), or ""."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("META-INF/") and name.endswith((".RSA", ".EC", ".DSA")):
                content = _bounded_entry(archive, name, MAX_SIGNATURE_BYTES)
                signed_data = der.sequence(der.sequence(content)[1].content)
                certificates = next((item for item in signed_data if item.tag == der.CONTEXT_0), None)
                if certificates is not None and (found := der.elements(certificates.content)):
                    return hashlib.sha256(found[0].whole).hexdigest()
    return ""
