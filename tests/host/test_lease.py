"""Who may work on a device: one owner and one policy among the processes of a machine."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.errors import DeviceBusy, UsageError
from bridge.host.lease import held_by, hold_lease, lease_key

HOLD = """
import sys
from pathlib import Path
from bridge.host.lease import hold_lease
with hold_lease("S", owner="the other", policy_digest="p", folder=Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease of S until it is ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def try_to_hold(folder: Path, owner: str = "a", policy: str = "p") -> None:
    with hold_lease("S", owner=owner, policy_digest=policy, folder=folder):
        pass


def test_a_lease_that_is_given_back_leaves_no_file(tmp_path: Path) -> None:
    with hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    try_to_hold(tmp_path, owner="b")


def test_another_process_is_named_each_time(other: subprocess.Popen[str], tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(DeviceBusy, match=rf"S is held by the other \(process {other.pid}\)") as busy:
            try_to_hold(tmp_path)
        assert busy.value.details["owner"] == "the other"


def test_a_process_that_was_killed_holds_nothing(other: subprocess.Popen[str], tmp_path: Path) -> None:
    other.kill()
    other.wait()
    assert list(tmp_path.iterdir()) != []
    try_to_hold(tmp_path)


def test_one_process_shares_its_lease_with_itself_until_the_last_block_ends(tmp_path: Path) -> None:
    with hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
        try_to_hold(tmp_path)
        with pytest.raises(DeviceBusy):
            try_to_hold(tmp_path, owner="b")
    try_to_hold(tmp_path, owner="b")


@pytest.mark.parametrize(("owner", "policy"), [("a", "another"), ("b", "p")])
def test_another_owner_or_policy_is_refused_inside_one_process_too(owner: str, policy: str, tmp_path: Path) -> None:
    with hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
        with pytest.raises(DeviceBusy, match="held by a"):
            try_to_hold(tmp_path, owner, policy)
        with hold_lease("T", owner=owner, policy_digest=policy, folder=tmp_path):
            pass


def test_an_exception_in_the_block_gives_the_device_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
        raise ZeroDivisionError
    try_to_hold(tmp_path, owner="b")


def test_what_a_dead_holder_left_in_its_file_does_not_matter(tmp_path: Path) -> None:
    with hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
        (path,) = tmp_path.iterdir()
    path.write_text("{half of a na", encoding="utf-8")
    try_to_hold(tmp_path, owner="b")


def test_serials_that_look_alike_are_different_leases(tmp_path: Path) -> None:
    with (
        hold_lease("10.0.0.1:5555", owner="a", policy_digest="p", folder=tmp_path),
        hold_lease("10.0.0.1_5555", owner="b", policy_digest="q", folder=tmp_path),
    ):
        assert len(list(tmp_path.iterdir())) == 2


def test_a_serial_is_one_device_on_this_machine_and_another_on_a_remote_one() -> None:
    assert lease_key(AdbServer("127.0.0.1", 1).device("S")) == lease_key(AdbServer("127.0.0.1", 2).device("S")) == "S"
    assert lease_key(AdbServer("lab", 1).device("S")) == "lab:1/S"


def test_without_a_runtime_folder_leases_lie_in_the_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with hold_lease("S", owner="a", policy_digest="p"):
        (folder,) = tmp_path.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        assert len(list(folder.iterdir())) == 1


def test_a_link_of_another_user_is_refused_as_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "webview-bridge").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(UsageError, match="not a folder of this user"), hold_lease("S", owner="a", policy_digest="p"):
        pass


def test_a_folder_that_others_may_enter_is_refused_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "webview-bridge").mkdir()
    (tmp_path / "webview-bridge").chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(UsageError, match="chmod 700"), hold_lease("S", owner="a", policy_digest="p"):
        pass


def test_reading_a_lease_does_not_prevent_taking_it(tmp_path: Path) -> None:
    over = threading.Event()

    def look_all_the_time() -> None:
        while not over.wait(0.005):
            held_by("S", folder=tmp_path)

    looking = threading.Thread(target=look_all_the_time)
    looking.start()
    try:
        for _ in range(200):
            with hold_lease("S", owner="a", policy_digest="p", folder=tmp_path):
                pass
    finally:
        over.set()
        looking.join()
