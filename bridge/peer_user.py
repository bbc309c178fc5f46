"""The user of this machine who has the other end of a loopback connection.

Every user can connect to a loopback port. Linux knows the owner of each socket: sock_diag(7), and /proc/net/tcp where a
sandbox has no such netlink family. Other systems do not report it.
"""

from __future__ import annotations

import functools
import os
import socket
import struct
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST = 4, 20, 1
_HEADER = struct.Struct("=IHHII")
# struct inet_diag_req_v2 with its struct inet_diag_sockid (linux/inet_diag.h); ports and addresses are big-endian.
_REQUEST = struct.Struct("=BBBBI2s2s16s16sI8s")
_REPLY_USER = _HEADER.size + 4 + 48 + 12  # after family, state, timer, retrans; id; expires, rqueue, wqueue
_ALL_STATES, _NO_COOKIE = 0xFFFFFFFF, b"\xff" * 8


def own_user() -> int:
    """This process's user id; 0 where there are none."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def peer_user(sock: socket.socket) -> int | None:
    """The user id of the process at the other end; None if it is not on this machine, has closed it, or is unknown."""
    if sys.platform != "linux" or sock.family != socket.AF_INET:
        return None
    try:
        theirs, ours = sock.getpeername(), sock.getsockname()
        try:
            return _ask_kernel(theirs, ours)
        except OSError:
            return _look_up(theirs, ours)
    except OSError:
        return None


def is_peer_of(sock: socket.socket, users: Collection[int]) -> bool:
    """True if the other end belongs to one of the users, or if this system does not report users."""
    return not can_tell_users() or peer_user(sock) in users


@functools.cache
def can_tell_users() -> bool:
    """True if this system reports the user of a connection; tried on one of our own."""
    if sys.platform != "linux":
        return False
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        far, _ = server.accept()
        with far:
            return peer_user(far) == own_user() == peer_user(near)


def _ask_kernel(theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> int | None:
    request = _REQUEST.pack(
        socket.AF_INET,
        socket.IPPROTO_TCP,
        0,
        0,
        _ALL_STATES,
        struct.pack(">H", theirs[1]),
        struct.pack(">H", ours[1]),
        socket.inet_aton(theirs[0]),
        socket.inet_aton(ours[0]),
        0,
        _NO_COOKIE,
    )
    head = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as netlink:
        netlink.settimeout(1.0)
        netlink.sendto(head + request, (0, 0))
        reply = netlink.recv(4096)
    if _HEADER.unpack_from(reply)[1] != _SOCK_DIAG_BY_FAMILY:
        return None  # an error: there is no such socket
    user, inode = struct.unpack_from("=II", reply, _REPLY_USER)
    return int(user) if inode else None  # a closed socket has no inode, and user 0 instead of its own


def _look_up(theirs: tuple[Any, ...], ours: tuple[Any, ...]) -> int | None:
    wanted = [_in_hexadecimal(theirs), _in_hexadecimal(ours)]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1:3] == wanted:
            return int(fields[7]) if int(fields[9]) else None
    return None


def _in_hexadecimal(address: tuple[Any, ...]) -> str:
    (number,) = struct.unpack("=I", socket.inet_aton(address[0]))
    return f"{number:08X}:{address[1]:04X}"
