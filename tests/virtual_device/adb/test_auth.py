"""Only a signature by one of this user's own keys opens a device."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.virtual_device.adb.auth import (
    PublicKey,
    authorized_keys,
    parse_private_key,
    parse_public_key,
    verify_token,
)
from tests.virtual_device.conftest import Adb

_SHA1 = bytes.fromhex("3021300906052b0e03021a05000414")


@pytest.fixture(scope="module")
def key_folder(adb_program: Adb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pair made by adb itself."""
    folder = tmp_path_factory.mktemp("keys") / ".android"
    folder.mkdir()
    subprocess.run([adb_program.program, "keygen", folder / "adbkey"], check=True, capture_output=True, timeout=20)
    return folder


def test_the_private_and_the_public_file_hold_the_same_key(key_folder: Path) -> None:
    public = parse_public_key((key_folder / "adbkey.pub").read_bytes())
    assert parse_private_key((key_folder / "adbkey").read_bytes()) == public
    assert public.exponent == 65537


def test_keys_are_found_where_adb_keeps_them(key_folder: Path) -> None:
    expected = (parse_public_key((key_folder / "adbkey.pub").read_bytes()),)
    assert authorized_keys({"HOME": str(key_folder.parent)}) == expected
    assert authorized_keys({"ANDROID_USER_HOME": str(key_folder)}) == expected
    assert authorized_keys({"ADB_VENDOR_KEYS": f"/nowhere:{key_folder / 'adbkey'}"}) == expected
    assert authorized_keys({"HOME": "/nowhere"}) == ()


def test_no_key_verifies_a_signature_that_it_did_not_make(key_folder: Path) -> None:
    key = parse_public_key((key_folder / "adbkey.pub").read_bytes())
    token = bytes(range(20))
    assert not verify_token(key, token, b"")
    assert not verify_token(key, token, bytes(256))
    assert not verify_token(key, token, b"\xff" * 256)
    assert not verify_token(key, token, b"\x01" * 256)


def test_a_forged_signature_with_short_padding_is_refused() -> None:
    """Bleichenbacher's forgery for exponent 3: a cube that starts well and ends in anything (RFC 8017 §8.2.2)."""
    key = PublicKey(modulus=(1 << 2047) + 1, exponent=3)
    token = bytes(20)
    start = b"\0\x01" + b"\xff" * 8 + b"\0" + _SHA1 + token
    wanted = int.from_bytes(start + b"\xff" * (256 - len(start)), "big")
    root = _cube_root(wanted)
    assert (root**3).to_bytes(256, "big").startswith(start)
    assert not verify_token(key, token, root.to_bytes(256, "big"))


def _cube_root(number: int) -> int:
    low, high = 0, 1 << 700
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low


@given(st.binary(max_size=700))
def test_noise_is_not_a_valid_key(noise: bytes) -> None:
    for parse in (parse_public_key, parse_private_key):
        with pytest.raises(ValueError):  # noqa: PT011 - which one does not matter
            parse(noise)


@given(st.binary(max_size=300))
def test_noise_in_a_pem_block_is_not_a_valid_key(noise: bytes) -> None:
    pem = b"-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(noise) + b"\n-----END PRIVATE KEY-----\n"
    with pytest.raises(ValueError):  # noqa: PT011
        parse_private_key(pem)
