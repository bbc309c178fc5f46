"""push, pull and ls by the real adb program."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.virtual_device.conftest import Adb


def test_twenty_megabytes_survive_the_way_there_and_back(adb: Adb, tmp_path: Path) -> None:
    body = os.urandom(20_000_000)
    (tmp_path / "there").write_bytes(body)
    assert adb("push", str(tmp_path / "there"), "/data/local/tmp/big").returncode == 0
    assert adb.shell("sha256sum -b /data/local/tmp/big").strip() == hashlib.sha256(body).hexdigest()
    assert adb("pull", "/data/local/tmp/big", str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back").read_bytes() == body
    adb.shell("rm /data/local/tmp/big")


def test_a_folder_can_be_pushed_and_pulled(adb: Adb, tmp_path: Path) -> None:
    (tmp_path / "tree/inner").mkdir(parents=True)
    (tmp_path / "tree/a.txt").write_text("a")
    (tmp_path / "tree/inner/empty").touch()
    (tmp_path / "tree/inner/é ü.txt").write_text("b")
    assert adb("push", str(tmp_path / "tree"), "/sdcard/").returncode == 0
    assert adb.shell("find /sdcard/tree -type f | sort") == (
        "/sdcard/tree/a.txt\n/sdcard/tree/inner/empty\n/sdcard/tree/inner/é ü.txt\n"
    )
    (tmp_path / "out").mkdir()
    assert adb("pull", "/sdcard/tree", str(tmp_path / "out")).returncode == 0
    assert (tmp_path / "out/tree/inner/é ü.txt").read_text() == "b"
    adb.shell("rm -r /sdcard/tree")


def test_the_time_and_mode_of_a_file_are_kept(adb: Adb, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    file.chmod(0o755)
    os.utime(file, (1_600_000_000, 1_600_000_000))
    adb("push", str(file), "/data/local/tmp/f")
    # adbd gives group and others what the owner has.
    assert adb.shell("stat -c '%a %Y %s' /data/local/tmp/f") == "777 1600000000 1\n"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/system/app/x", b"Read-only file system"),
        ("/data/system/x", b"Permission denied"),
        ("/sdcard/" + "x" * 300, b"File name too long"),
        ("/../../../../../../etc/x", b"Read-only file system"),
    ],
)
def test_a_push_where_the_shell_may_not_write_fails(adb: Adb, tmp_path: Path, target: str, words: bytes) -> None:
    (tmp_path / "f").write_text("x")
    done = adb("push", str(tmp_path / "f"), target)
    assert done.returncode != 0
    assert words in done.stderr + done.stdout


@pytest.mark.parametrize("path", ["/etc/passwd", "/../../../etc/passwd", "/sdcard/../../../../etc/passwd", "/root"])
def test_files_of_this_machine_cannot_be_pulled(adb: Adb, tmp_path: Path, path: str) -> None:
    assert adb("pull", path, str(tmp_path / "got")).returncode != 0
    assert not (tmp_path / "got").exists()


def test_adb_ls_lists_a_folder(adb: Adb) -> None:
    adb.shell("mkdir -p /sdcard/listed; echo x > /sdcard/listed/file")
    assert adb("ls", "/sdcard/listed").stdout.decode().endswith(" file\n")


def test_many_pushes_at_once_do_not_mix(adb: Adb, tmp_path: Path) -> None:
    import concurrent.futures

    def one(number: int) -> bool:
        body = os.urandom(300_000 + number)
        (tmp_path / f"in{number}").write_bytes(body)
        adb("push", str(tmp_path / f"in{number}"), f"/sdcard/many{number}")
        adb("pull", f"/sdcard/many{number}", str(tmp_path / f"out{number}"))
        return (tmp_path / f"out{number}").read_bytes() == body

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert all(pool.map(one, range(12)))
