"""No path reads or writes a file outside the operator's folder."""

from __future__ import annotations

import gc
import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import BridgeError, PolicyRefused, UsageError
from bridge.page.files.safe_folder import SafeFolder

MAX = 1_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("inside")
    (folder / "sub" / "b.txt").write_text("below")
    (tmp_path / "secret.txt").write_text("outside")
    return folder


@pytest.fixture
def confined(root: Path) -> SafeFolder:
    return SafeFolder.at(root, "files.uploads_root")


def test_files_in_the_folder_are_read_by_relative_and_absolute_path(confined: SafeFolder, root: Path) -> None:
    assert confined.read("a.txt", max_bytes=MAX) == ("a.txt", b"inside")
    assert confined.read("./sub/b.txt", max_bytes=MAX) == ("b.txt", b"below")
    assert confined.read(root / "sub" / "b.txt", max_bytes=MAX) == ("b.txt", b"below")


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "sub/../../secret.txt",
        "sub/../a.txt",
        "/etc/passwd",
        "..\\secret.txt",
        "/",
        "..",
        "//etc/passwd",
    ],
)
def test_paths_that_leave_the_folder_are_refused(confined: SafeFolder, path: str) -> None:
    for attempt in (lambda: confined.read(path, max_bytes=MAX), lambda: write(confined, path)):
        with pytest.raises((PolicyRefused, UsageError)):
            attempt()


def test_a_folder_whose_name_starts_like_the_root_is_outside(confined: SafeFolder, root: Path) -> None:
    other = root.with_name("root-other")
    other.mkdir()
    (other / "x").write_text("outside")
    with pytest.raises(PolicyRefused):
        confined.read(other / "x", max_bytes=MAX)


def test_symbolic_links_are_refused_in_every_component(confined: SafeFolder, root: Path, tmp_path: Path) -> None:
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inner.txt").symlink_to("a.txt")
    (root / "away").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    for path in ("link.txt", "inner.txt", "away/secret.txt", "loop"):
        with pytest.raises(PolicyRefused, match="symbolic link"):
            confined.read(path, max_bytes=MAX)
        with pytest.raises(PolicyRefused, match="symbolic link"):
            write(confined, path, overwrite=True)
    assert (tmp_path / "secret.txt").read_text() == "outside"


def test_devices_fifos_sockets_and_folders_are_refused_without_blocking(
    confined: SafeFolder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(root)  # a socket's path is short
    listener.bind("sock")
    for path in ("pipe", "sock", "sub"):
        with pytest.raises(PolicyRefused, match="not a regular file"):
            confined.read(path, max_bytes=MAX)
        with pytest.raises(PolicyRefused, match="not a regular file"):
            write(confined, path, overwrite=True)
    listener.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="device nodes are made by root")
def test_a_device_node_is_refused(confined: SafeFolder, root: Path) -> None:
    try:
        os.mknod(root / "null", 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container may not make device nodes")
    with pytest.raises((PolicyRefused, UsageError)):
        confined.read("null", max_bytes=MAX)


def test_without_a_folder_every_path_is_refused_naming_the_setting() -> None:
    nowhere = SafeFolder.at(None, "downloads_root")
    with pytest.raises(PolicyRefused, match=r"--downloads-root FOLDER \(downloads_root=… in Python\)"):
        nowhere.read("a.txt", max_bytes=MAX)
    with pytest.raises(UsageError, match="downloads_root"):
        SafeFolder.at("/no/such/folder", "downloads_root")


def test_files_that_are_too_large_are_neither_read_nor_left_behind(confined: SafeFolder, root: Path) -> None:
    (root / "large").write_bytes(b"x" * (MAX + 1))
    with pytest.raises(UsageError, match="larger than 1000"):
        confined.read("large", max_bytes=MAX)
    with pytest.raises(UsageError, match="larger than max_bytes"):
        write(confined, "new", b"x" * 11, max_bytes=10)
    assert names(root) == ["a.txt", "large", "sub"]


def test_files_are_overwritten_only_on_request(confined: SafeFolder, root: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        write(confined, "a.txt", b"new")
    assert (root / "a.txt").read_text() == "inside"
    write(confined, "a.txt", b"new", overwrite=True)
    assert (root / "a.txt").read_text() == "new"
    assert (root / "a.txt").stat().st_mode & 0o077 == 0


def test_an_interrupted_write_leaves_no_file(confined: SafeFolder, root: Path) -> None:
    before = names(root)

    def break_off() -> None:
        assert not (root / "half").exists()
        raise RuntimeError("the cable")

    with pytest.raises(RuntimeError):
        write(confined, "half", meanwhile=break_off)
    assert names(root) == before


def test_a_file_created_during_a_write_is_kept(confined: SafeFolder, root: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        write(confined, "late", b"ours", meanwhile=lambda: (root / "late").write_text("theirs"))
    assert (root / "late").read_text() == "theirs"


def test_a_link_created_during_a_write_is_not_followed(confined: SafeFolder, root: Path, tmp_path: Path) -> None:
    with pytest.raises(PolicyRefused):
        write(
            confined,
            "late",
            b"ours",
            overwrite=True,
            meanwhile=lambda: (root / "late").symlink_to(tmp_path / "secret.txt"),
        )
    assert (tmp_path / "secret.txt").read_text() == "outside"


def test_a_folder_swapped_for_a_link_never_leads_out(confined: SafeFolder, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("outside")
    (root / "door").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for one, other in (("sub", "aside"), ("door", "sub"), ("sub", "door"), ("aside", "sub")):
                (root / one).rename(root / other)

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(3_000):
            try:
                seen.add(confined.read("sub/b.txt", max_bytes=MAX)[1])
            except BridgeError:
                seen.add(None)
            with suppress(BridgeError):
                write(confined, "sub/new", b"x", overwrite=True)
    finally:
        stop.set()
        thread.join()
    assert b"outside" not in seen
    assert b"below" in seen
    assert names(outside) == ["b.txt"]


def test_a_root_whose_parent_becomes_a_link_is_refused(tmp_path: Path) -> None:
    parent, elsewhere = tmp_path / "parent", tmp_path / "elsewhere"
    (parent / "root").mkdir(parents=True)
    (elsewhere / "root").mkdir(parents=True)
    (elsewhere / "root" / "a.txt").write_text("outside")
    folder = SafeFolder.at(parent / "root", "downloads_root")
    parent.rename(tmp_path / "moved")
    parent.symlink_to(elsewhere)
    with pytest.raises(PolicyRefused, match="moved or replaced"):
        folder.read("a.txt", max_bytes=MAX)
    with pytest.raises(PolicyRefused, match="moved or replaced"):
        write(folder, "b.txt")
    assert [file.name for file in (elsewhere / "root").iterdir()] == ["a.txt"]


def test_a_root_replaced_by_a_folder_of_the_same_name_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    folder = SafeFolder.at(root, "downloads_root")
    root.rmdir()
    root.mkdir()
    with pytest.raises(PolicyRefused, match="moved or replaced"):
        write(folder, "b.txt")
    assert list(root.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are listed in /proc")
def test_the_descriptor_of_a_folder_is_closed_with_it(root: Path) -> None:
    before = open_descriptors()
    folder = SafeFolder.at(root, "k")
    assert len(open_descriptors() - before) == 1
    del folder
    gc.collect()
    assert open_descriptors() <= before


@given(st.text(min_size=1, max_size=40))
def test_no_path_reads_a_file_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    with pytest.raises(BridgeError):
        SafeFolder.at(folder, "k").read(path, max_bytes=MAX)


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def write(
    confined: SafeFolder,
    path: str,
    content: bytes = b"x",
    *,
    overwrite: bool = False,
    max_bytes: int = MAX,
    meanwhile: Callable[[], object] = lambda: None,
) -> None:
    with confined.write(path, overwrite=overwrite, max_bytes=max_bytes) as incoming:
        incoming.write(content)
        meanwhile()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
