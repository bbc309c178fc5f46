"""A full disk: writing a file for the user fails with a clear error, and an existing file stays unchanged."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from bridge.errors import UsageError
from bridge.surfaces.cli.output import write_file
from bridge.surfaces.trace.document import write_trace
from tests.faults.test_resources import disk_for


@pytest.mark.parametrize("before", [None, b"an older screenshot"], ids=["new", "there already"])
def test_a_screenshot_on_a_full_disk_leaves_no_partial_file(tmp_path: Path, before: bytes | None) -> None:
    target = tmp_path / "screenshot.png"
    if before is not None:
        target.write_bytes(before)
    with disk_for(100_000), pytest.raises(UsageError, match="cannot write"):
        write_file(target, bytes(2_000_000))
    assert [file.name for file in tmp_path.iterdir()] == ([target.name] if before else [])
    assert not before or target.read_bytes() == before


def test_a_trace_on_a_full_disk_leaves_no_partial_file(tmp_path: Path) -> None:
    with disk_for(100_000), pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        write_trace(tmp_path / "trace.html", {"screenshots": ["x" * 2_000_000]})
    assert not list(tmp_path.iterdir())


def test_a_rewritten_file_keeps_its_mode(tmp_path: Path) -> None:
    place, link = tmp_path / "real.txt", tmp_path / "link.txt"
    place.write_text("old")
    place.chmod(0o600)
    link.symlink_to(place)
    write_file(link, "new \udc80")
    assert link.is_symlink()
    assert place.read_text() == "new ?"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_file_that_is_not_regular_is_written_in_place(tmp_path: Path) -> None:
    write_file(Path(os.devnull), "gone")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(UsageError, match="cannot write"):
        write_file(tmp_path, "a folder")
