"""A command handed to the zygote of its session, which has everything imported that this process has not.

Most of a warm command's time would be its own imports. So each kept session has a zygote (`zygote.py`; Android's word
for a process whose forks begin with all classes loaded): a fork of it becomes the command, with the arguments, folder,
environment, umask and the very standard streams of the process that was started, and runs the same command line.

    zygote  → command    facts, newline, names of the commands it takes, newline    both have to fit
    command → zygote     length (4 bytes), request, and the descriptors 0, 1, 2 and the working folder (SCM_RIGHTS)
    command → zygote     the number of a signal, one byte each, any time; the end of the connection means SIGTERM
    zygote  → command    "+" when it has taken the command over, then the exit code, one byte

Until it was taken over a command has changed nothing and may go on without the zygote. What cannot be handed over is
left to the process itself: other descriptors than the first three, and Windows and macOS, where nobody has tried it
(fork without exec is not safe with macOS's own libraries).

Imports cost more than everything else here: `socket`, `json`, `signal` and `typing` take from a fifth to a half of an
interpreter's start each.
"""

from __future__ import annotations

import os
import sys

import bridge
from bridge.runtime_place import runtime_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

DEFAULT_SESSION = "default"
SESSION_VARIABLE = "WEBVIEW_BRIDGE_SESSION"
SUFFIX = ".zygote"
LONGEST_REQUEST_BYTES = 16 * 1024 * 1024
LENGTH_BYTES = 4
STREAMS = ("stdin", "stdout", "stderr")
_GREETING_BYTES = 16 * 1024
# It is alive and warm, or it is of no use: the command has to be quicker with it than without.
_GREETING_S = 1.0
TAKEN = b"+"
_INTERRUPT = b"\x02"


def hand_over(arguments: list[str]) -> int | None:
    """The exit code of the command that a zygote has carried out; None where there is none for it."""
    if sys.platform != "linux" or not arguments or any(map(_is_for_this_process, arguments)):
        return None
    try:
        import _socket  # what `socket` is made of, without its enumerations and selectors

        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(_GREETING_S)
        connection.connect(os.path.join(runtime_place(), "sessions", session_name(arguments) + SUFFIX))
        if not _is_of_this_user(connection) or not _takes(connection, arguments[0]):
            return None
        descriptors = (0, 1, 2, os.open(".", os.O_PATH | os.O_DIRECTORY))
        request = request_of(arguments)
        connection.settimeout(None)
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in descriptors)
        sent = connection.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        # Once all is sent, only the answer tells: the command may be done, and its end closed, before we are here.
        while sent < len(request):
            sent += connection.send(request[sent:])
        if connection.recv(len(TAKEN)) != TAKEN:
            return None
    except (ImportError, OSError, AttributeError):
        # No zygote, one that is busy dying, or a process without all its streams.
        return None
    return _outcome(connection)


def session_name(arguments: list[str]) -> str:
    """Which session the command is about, as far as a look tells: a wrong one costs time and nothing else."""
    name = os.environ.get(SESSION_VARIABLE) or DEFAULT_SESSION
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if before == "--session":
            name = argument
        elif argument.startswith("--session="):
            name = argument[len("--session=") :]
    return name.replace(os.sep, "_")


def facts() -> str:
    """What a process cannot change any more and must be the same in both: program, Python, file names, file system."""
    root = os.stat("/")  # another one in a container that shares the runtime folder
    return ascii(
        (
            bridge.__version__,
            os.path.realpath(bridge.__file__),
            sys.hexversion,
            sys.getfilesystemencoding(),
            root.st_dev,
            root.st_ino,
        )
    )


def request_of(arguments: list[str]) -> bytes:
    """What a fork needs to be this process: arguments, umask, streams' encodings, environment."""
    umask = os.umask(0o077)
    os.umask(umask)
    fields = [str(umask)]
    for name in STREAMS:
        stream = getattr(sys, name)
        fields += (stream.encoding, stream.errors)
    fields += (str(len(arguments)), *arguments)
    request = b"\0".join((*map(os.fsencode, fields), *(key + b"=" + value for key, value in os.environb.items())))
    return len(request).to_bytes(LENGTH_BYTES, "big") + request


def _is_for_this_process(argument: str) -> bool:
    """`--out /dev/fd/63` is a descriptor of ours; with --url there is a session of its own, and time for imports."""
    return "/fd/" in argument or argument.startswith("--url")


def _is_of_this_user(connection: socket) -> bool:
    """The kernel's word on who listens there: SO_PEERCRED gives pid, uid and gid (unix(7))."""
    import _socket

    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()


def _takes(connection: socket, command: str) -> bool:
    greeting = b""
    while greeting.count(b"\n") < 2:
        piece = connection.recv(_GREETING_BYTES)
        if not piece or len(greeting) > _GREETING_BYTES:
            return False
        greeting += piece
    said, commands, _ = greeting.decode(errors="replace").split("\n", 2)
    return said == facts() and command in commands.split()


def _outcome(connection: socket) -> int:
    """The exit code; what interrupts this process until then is passed on."""
    told = b""
    while True:
        try:
            told = connection.recv(1)
        except KeyboardInterrupt:
            _tell(connection, _INTERRUPT)
            continue
        except OSError:
            pass
        break
    if told:
        return told[0]
    sys.stderr.write("error: the command's process ended without a word.\n")
    return 1


def _tell(connection: socket, signal_number: bytes) -> None:
    try:
        connection.send(signal_number)
    except OSError:
        pass  # it has just ended; its exit code may still come
