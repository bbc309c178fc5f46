"""One owner and one policy per device, among the processes of this machine.

The host app's proxy, cookies and pins belong to its whole process, so two that do not agree would change each other's
rules. The host app refuses the second one too, but only this file can name it before anything on the device is
touched. A lease is a file that its holder keeps locked: the system lets go of the lock however the holder dies, so a
lease without a living holder is nobody's. A child that is forked from the holder has no part in it.
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
    """Who has a device, in words for people.

    Attributes:
        policy: Digest of the policy in force.
        since_s: When it was taken, in seconds of the Unix epoch.
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
    """What the device is called on this machine: a serial says little without the machine that it is attached to."""
    return device.serial if device.server.is_local else f"{device.server.address}/{device.serial}"


@contextmanager
def hold_lease(key: str, *, owner: str, policy_digest: str, folder: Path | None = None) -> Iterator[Holder]:
    """Hold the device while the block lives. Blocks of this process with the same owner and policy share it.

    Raises:
        DeviceBusy: Somebody else holds it; `details` has `owner`, `pid` and `policy`.
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
    """Who holds the device on this machine, in words for people; None where nobody does. Takes nothing."""
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
    """The locked file with our name in it. Who only looks (`held_by`) has it locked for an instant."""
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
        file.close()  # its last holder removed it between our opening and our locking
    close_in_children(file)
    file.seek(0)
    file.truncate()
    json.dump(asdict(wanted), file)
    file.flush()
    return file


def _give_back(path: Path, file: IO[str]) -> None:
    with file:
        if os.name == "nt":  # an open file cannot be removed there; without its lock it is nobody's
            unlock(file)
        else:
            path.unlink(missing_ok=True)


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _read(file: IO[str]) -> Holder | None:
    """The name in the file; None while its holder is still writing it."""
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
    """A readable name and a digest, because a serial may hold anything."""
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", key)[:60]
    return folder / f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.lease"
