"""Leases: one owner and one policy per device among the processes of this machine.

The host app's proxy, cookies and pins apply to its whole process, so two owners would change each other's rules. The
host app refuses a second owner too, but the lease names the first one before anything on the device changes. A lease
is a locked file: the system releases the lock when its holder dies. Forked children do not inherit it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from bridge.errors import DeviceBusy, UsageError
from bridge.host.filelock import try_lock, unlock
from bridge.host.forks import close_in_children
from bridge.host.runtime_folder import runtime_folder

if TYPE_CHECKING:
    from bridge.adb import AdbDevice


@dataclass(frozen=True)
class Holder:
    """The holder of a device, for messages.

    Attributes:
        policy: Digest of the policy in force.
        since_s: When the lease was taken, in seconds since the Unix epoch.
    """

    owner: str
    policy: str
    pid: int
    since_s: float


@dataclass
class _Held:
    file: IO[str]
    holder: Holder
    users: int = 1


_LOOKS, _LOOK_S = 3, 0.01

_held: dict[Path, _Held] = {}
_held_lock = threading.Lock()


def lease_key(device: AdbDevice) -> str:
    """The device's name on this machine: its adb server and its serial."""
    return device.serial if device.server.is_local else f"{device.server.address}/{device.serial}"


@contextmanager
def hold_lease(key: str, *, owner: str, policy_digest: str, folder: Path | None = None) -> Iterator[Holder]:
    """Holds the device during the block. Blocks of this process with the same owner and policy share it.

    Raises:
        DeviceBusy: Another process or owner holds it; `details` has `owner`, `pid` and `policy`.
        UsageError: The folder of leases cannot be used, or belongs to another user.
    """
    path = _lease_path(key, runtime_folder() if folder is None else folder)
    wanted = Holder(owner, policy_digest, os.getpid(), time.time())
    with _held_lock:
        held = _held.get(path)
        if held is None or held.holder.pid != os.getpid():
            held = _held[path] = _Held(_take(path, key, wanted), wanted)
        elif (held.holder.owner, held.holder.policy) == (owner, policy_digest):
            held.users += 1
        else:
            raise _busy(key, held.holder)
    try:
        yield held.holder
    finally:
        with _held_lock:
            held.users -= 1
            if not held.users and held.holder.pid == os.getpid():
                del _held[path]
                _give_back(path, held.file)


def held_by(key: str, *, folder: Path | None = None) -> str | None:
    """A description of the device's holder on this machine, None without one. Does not take the lease."""
    path = _lease_path(key, runtime_folder() if folder is None else folder)
    try:
        with path.open("r+", encoding="utf-8") as file:
            if try_lock(file):
                unlock(file)
                return None
            holder = _read(file)
    except OSError:
        return None
    return f"{holder.owner} (process {holder.pid})" if holder else "another process"


def _take(path: Path, key: str, wanted: Holder) -> IO[str]:
    """Locks the file and writes our name into it. Retries, because `held_by` locks it for an instant."""
    for may_be_a_look in itertools.chain((True,) * _LOOKS, itertools.repeat(False)):
        try:
            file = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"The lease {path} cannot be opened: {error.strerror or error}.") from error
        if not try_lock(file):
            with file:
                if not may_be_a_look:
                    raise _busy(key, _read(file))
            time.sleep(_LOOK_S)
            continue
        if _is_still(path, file):
            break
        file.close()  # its last holder removed it after we opened it
    close_in_children(file)
    file.seek(0)
    file.truncate()
    json.dump(asdict(wanted), file)
    file.flush()
    return file


def _give_back(path: Path, file: IO[str]) -> None:
    with file:
        if os.name == "nt":  # an open file cannot be removed there; without a lock the lease is free
            unlock(file)
        else:
            path.unlink(missing_ok=True)


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _read(file: IO[str]) -> Holder | None:
    """The holder in the file; None while it is being written."""
    file.seek(0)
    try:
        fields = json.load(file)
        return Holder(str(fields["owner"]), str(fields["policy"]), int(fields["pid"]), float(fields["since_s"]))
    except (ValueError, KeyError, TypeError, OSError):
        return None


def _busy(key: str, holder: Holder | None) -> DeviceBusy:
    if holder is None:
        return DeviceBusy(f"{key} is held by another process of this machine.", serial=key)
    return DeviceBusy(
        f"{key} is held by {holder.owner} (process {holder.pid}) for {max(0.0, time.time() - holder.since_s):.0f} s.",
        hint="Use another device, or end that session first.",
        serial=key,
        owner=holder.owner,
        pid=holder.pid,
        policy=holder.policy,
    )


def _lease_path(key: str, folder: Path) -> Path:
    """A readable name with a digest, because a serial may have any characters."""
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", key)[:60]
    return folder / f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.lease"
