"""adb's RSA challenge, verified against the adb keys of this user.

adbd sends 20 random bytes; the adb server signs them with each of its private keys and finally offers a public key
(AOSP packages/modules/adb, `protocol.txt` "AUTH" and `crypto/`). A phone then asks its user. The virtual device cannot
ask, and every local user can connect to its loopback listener, so it accepts only signatures by a key from this user's
own files. An offered public key proves nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.virtual_device.android.der import INTEGER, OCTET_STRING, sequence

TOKEN_BYTES = 20
AUTH_TOKEN, AUTH_SIGNATURE, AUTH_RSAPUBLICKEY = 1, 2, 3

# RFC 8017 §9.2 note 1: DigestInfo of SHA-1. adb treats the token as if it were a SHA-1 digest (RSA_sign with NID_sha1).
_SHA1_DIGEST_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
_MODULUS_BYTES = 256
_MAX_KEY_FILE_BYTES = 64 * 1024
_MAX_KEY_FILES = 100


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An RSA public key."""

    modulus: int
    exponent: int

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.modulus.to_bytes(_MODULUS_BYTES, "big")).hexdigest()[:16]


def parse_public_key(text: bytes | str) -> PublicKey:
    """The key in an `adbkey.pub` line: base64 of Android's RSAPublicKey struct, then a blank and a comment.

    The struct (AOSP libcrypto_utils, `android_pubkey.cpp`): words u32, n0inv u32, modulus[256] little-endian,
    rr[256], exponent u32.

    Raises:
        ValueError: It is not a valid key.
    """
    raw = text.encode() if isinstance(text, str) else text
    encoded = raw.strip(b"\0 \r\n").split(None, 1)
    if not encoded:
        raise ValueError("empty key")
    try:
        blob = base64.b64decode(encoded[0], validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error
    if len(blob) != 8 + 2 * _MODULUS_BYTES + 4:
        raise ValueError(f"an Android RSA key has 524 bytes, this has {len(blob)}")
    (words,) = struct.unpack_from("<I", blob)
    if words * 4 != _MODULUS_BYTES:
        raise ValueError(f"a modulus of {words * 32} bits, expected 2048")
    modulus = int.from_bytes(blob[8 : 8 + _MODULUS_BYTES], "little")
    (exponent,) = struct.unpack_from("<I", blob, 8 + 2 * _MODULUS_BYTES)
    return _checked(modulus, exponent)


def parse_private_key(pem: bytes) -> PublicKey:
    """The public half of an `adbkey`: PEM, PKCS#8 (or PKCS#1 inside "RSA PRIVATE KEY").

    Raises:
        ValueError: It is not a valid key.
    """
    lines = [line.strip() for line in pem.splitlines()]
    body = b"".join(line for line in lines if line and not line.startswith(b"-----"))
    if not any(line.startswith(b"-----BEGIN") and b"PRIVATE KEY" in line for line in lines):
        raise ValueError("not a PEM private key")
    try:
        der = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from error
    fields = sequence(der)
    if len(fields) >= 3 and fields[2].tag == OCTET_STRING:  # PKCS#8 wraps PKCS#1
        fields = sequence(fields[2].content)
    if len(fields) < 3 or any(field.tag != INTEGER for field in fields[:3]):
        raise ValueError("not an RSA private key")
    return _checked(int.from_bytes(fields[1].content, "big"), int.from_bytes(fields[2].content, "big"))


def verify_token(key: PublicKey, token: bytes, signature: bytes) -> bool:
    """True if `signature` is that key's PKCS#1 v1.5 signature of the token."""
    if len(signature) != _MODULUS_BYTES or len(token) != TOKEN_BYTES:
        return False
    number = int.from_bytes(signature, "big")
    if number >= key.modulus:
        return False
    opened = pow(number, key.exponent, key.modulus).to_bytes(_MODULUS_BYTES, "big")
    tail = b"\0" + _SHA1_DIGEST_INFO + token
    expected = b"\0\x01" + b"\xff" * (_MODULUS_BYTES - 2 - len(tail)) + tail
    return hmac.compare_digest(opened, expected)


def authorized_keys(environment: Mapping[str, str] | None = None) -> tuple[PublicKey, ...]:
    """This user's keys, read from disk: `adbkey(.pub)` in adb's own folder and the files named by ADB_VENDOR_KEYS.

    They are read for each connection, because the adb server creates its key pair at its very first start.
    """
    env = os.environ if environment is None else environment
    return tuple(dict.fromkeys(_read_keys(_key_files(env))))


def _key_files(env: Mapping[str, str]) -> Iterator[Path]:
    for folder in _adb_folders(env):
        yield folder / "adbkey.pub"
        yield folder / "adbkey"
    for entry in filter(None, env.get("ADB_VENDOR_KEYS", "").split(os.pathsep)):
        path = Path(entry)
        if path.is_dir():
            yield from sorted(path.glob("*.adb_key"))[:_MAX_KEY_FILES]
        else:
            yield path


def _adb_folders(env: Mapping[str, str]) -> Iterator[Path]:
    """adb keeps its keys in `$HOME/.android`; Android Studio also uses the other two."""
    if home := env.get("ANDROID_USER_HOME"):
        yield Path(home)
    if home := env.get("ANDROID_SDK_HOME"):
        yield Path(home) / ".android"
    if home := env.get("HOME") or env.get("USERPROFILE"):
        yield Path(home) / ".android"


def _read_keys(paths: Iterable[Path]) -> Iterator[PublicKey]:
    for path in paths:
        try:
            with path.open("rb") as file:
                content = file.read(_MAX_KEY_FILE_BYTES)
            yield parse_private_key(content) if b"PRIVATE KEY" in content else parse_public_key(content)
        except (OSError, ValueError):
            continue  # adb itself skips files that are not keys


def _checked(modulus: int, exponent: int) -> PublicKey:
    if modulus.bit_length() != _MODULUS_BYTES * 8 or modulus % 2 == 0:
        raise ValueError("not a 2048-bit RSA modulus")
    if exponent not in (3, 65537):
        raise ValueError(f"public exponent {exponent} is not 3 or 65537")
    return PublicKey(modulus, exponent)
