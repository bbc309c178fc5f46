"""The device's files end at its private folder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.virtual_device.android.files import DeviceFiles

pieces = st.one_of(
    st.sampled_from(
        ["..", ".", "", "sdcard", "data", "local", "tmp", "etc", "passwd", "\0", "a/b", "x" * 300, "é", "\\"]
    ),
    st.text(max_size=8),
)
paths = st.lists(pieces, max_size=12).map("/".join)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> tuple[DeviceFiles, Path]:
    """Files inside a folder that has a neighbour nobody may touch."""
    outside = tmp_path_factory.mktemp("desktop")
    (outside / "secret").write_text("secret")
    return DeviceFiles(outside / "device", quota_bytes=100_000), outside


@given(paths)
def test_no_path_reaches_outside_the_private_folder(guarded: tuple[DeviceFiles, Path], path: str) -> None:
    files, outside = guarded
    for act in (files.stat, files.list, files.remove, lambda p: b"".join(files.read_chunks(p))):
        try:
            result = act(path)
        except (OSError, UnicodeEncodeError):
            continue
        assert b"secret" not in repr(result).encode()
    try:
        handle = files.open_write(path)
        handle.write(b"x")
        handle.close()
    except (OSError, UnicodeEncodeError):
        pass
    assert sorted(entry.name for entry in outside.iterdir()) == ["device", "secret"]
    assert (outside / "secret").read_text() == "secret"


def test_a_symbolic_link_in_the_private_folder_is_not_followed(tmp_path: Path) -> None:
    files = DeviceFiles(tmp_path / "device")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "device/storage/emulated/0/link").symlink_to(tmp_path / "secret")
    (tmp_path / "device/storage/emulated/0/up").symlink_to(tmp_path)
    for path in ("/sdcard/link", "/sdcard/up/secret"):
        with pytest.raises(OSError, match="symbolic links"):
            list(files.read_chunks(path))
        with pytest.raises(OSError, match="symbolic links"):
            files.open_write(path)
    assert [name for name, _ in files.list("/sdcard")] == []


def test_one_may_write_where_a_shell_may(tmp_path: Path) -> None:
    files = DeviceFiles(tmp_path)
    for path, number in (
        ("/system/app/x", errno.EROFS),
        ("/x", errno.EROFS),
        ("/data/x", errno.EACCES),
        ("/proc/x", errno.EACCES),
        ("/sdcard", errno.EISDIR),
        ("/sdcard/no/such/folder", errno.ENOENT),
    ):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            files.open_write(path)
        assert caught.value.errno == number, path
    files.open_write("/data/local/tmp/x").close()
    assert [name for name, _ in files.list("/data/local/tmp")] == ["x"]


def test_a_device_can_be_full(tmp_path: Path) -> None:
    files = DeviceFiles(tmp_path, quota_bytes=1000)
    handle = files.open_write("/sdcard/big")
    handle.write(bytes(900))
    with pytest.raises(OSError, match="No space left on device"):
        handle.write(bytes(200))
    handle.close()
    files.remove("/sdcard/big")
    handle = files.open_write("/sdcard/again")
    handle.write(bytes(1000))
    handle.close()


def test_aliases_lead_to_the_same_file(tmp_path: Path) -> None:
    files = DeviceFiles(tmp_path)
    handle = files.open_write("/sdcard/a")
    handle.write(b"text")
    handle.close()
    assert b"".join(files.read_chunks("/storage/self/primary/a")) == b"text"
    assert files.resolve("/sdcard/../sdcard/./a") == "/storage/emulated/sdcard/a"
