"""Nothing outside the operator's folder is read or written, however it is asked for."""

from __future__ import annotations

import os
import socket
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
def test_paths_that_lead_out_are_refused(confined: SafeFolder, path: str) -> None:
    for attempt in (lambda: confined.read(path, max_bytes=MAX), lambda: write(confined, path)):
        with pytest.raises((PolicyRefused, UsageError)):
            attempt()


def test_a_folder_whose_name_only_begins_like_the_root_is_not_the_root(confined: SafeFolder, root: Path) -> None:
    other = root.with_name("root-other")
    other.mkdir()
    (other / "x").write_text("outside")
    with pytest.raises(PolicyRefused):
        confined.read(other / "x", max_bytes=MAX)


def test_symbolic_links_are_refused_wherever_they_stand(confined: SafeFolder, root: Path, tmp_path: Path) -> None:
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


def test_devices_fifos_sockets_and_folders_are_no_files_and_nobody_waits_for_them(
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
def test_a_device_node_is_no_file(confined: SafeFolder, root: Path) -> None:
    try:
        os.mknod(root / "null", 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container may not make device nodes")
    with pytest.raises((PolicyRefused, UsageError)):
        confined.read("null", max_bytes=MAX)


def test_without_a_folder_everything_is_refused_and_the_key_is_named() -> None:
    nowhere = SafeFolder.at(None, "downloads_root")
    with pytest.raises(PolicyRefused, match=r"--downloads-root FOLDER \(downloads_root=… in Python\)"):
        nowhere.read("a.txt", max_bytes=MAX)
    with pytest.raises(UsageError, match="downloads_root"):
        SafeFolder.at("/no/such/folder", "downloads_root")


def test_what_is_too_large_is_neither_read_nor_left_behind(confined: SafeFolder, root: Path) -> None:
    (root / "large").write_bytes(b"x" * (MAX + 1))
    with pytest.raises(UsageError, match="larger than 1000"):
        confined.read("large", max_bytes=MAX)
    with pytest.raises(UsageError, match="larger than max_bytes"):
        write(confined, "new", b"x" * 11, max_bytes=10)
    assert names(root) == ["a.txt", "large", "sub"]


def test_nothing_is_overwritten_unless_that_is_wanted(confined: SafeFolder, root: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        write(confined, "a.txt", b"new")
    assert (root / "a.txt").read_text() == "inside"
    write(confined, "a.txt", b"new", overwrite=True)
    assert (root / "a.txt").read_text() == "new"
    assert (root / "a.txt").stat().st_mode & 0o077 == 0


def test_an_interrupted_write_leaves_no_half_file(confined: SafeFolder, root: Path) -> None:
    before = names(root)

    def break_off() -> None:
        assert not (root / "half").exists()
        raise RuntimeError("the cable")

    with pytest.raises(RuntimeError):
        write(confined, "half", meanwhile=break_off)
    assert names(root) == before


def test_a_file_that_came_while_ours_was_written_is_kept(confined: SafeFolder, root: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        write(confined, "late", b"ours", meanwhile=lambda: (root / "late").write_text("theirs"))
    assert (root / "late").read_text() == "theirs"


def test_a_link_that_came_while_ours_was_written_is_not_followed(
    confined: SafeFolder, root: Path, tmp_path: Path
) -> None:
    with pytest.raises(PolicyRefused):
        write(
            confined,
            "late",
            b"ours",
            overwrite=True,
            meanwhile=lambda: (root / "late").symlink_to(tmp_path / "secret.txt"),
        )
    assert (tmp_path / "secret.txt").read_text() == "outside"


def test_a_folder_that_is_swapped_for_a_link_while_it_is_read_never_leads_out(
    confined: SafeFolder, root: Path, tmp_path: Path
) -> None:
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


@given(st.text(min_size=1, max_size=40))
def test_no_text_at_all_reads_anything_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    with pytest.raises(BridgeError):
        SafeFolder.at(folder, "k").read(path, max_bytes=MAX)


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
