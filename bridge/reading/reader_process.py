"""A process that reads one document: `python -m bridge.reading.reader_process`.

From standard input it takes a pickled function with its arguments. The function returns a value and a list. To standard
output go the value, or the error, and the list in pieces: unpickling a long one at once would stop all threads of the
receiver. The process also ends, whatever it is doing, when its standard input does: whoever asked is gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import sys
import threading
from typing import Any, BinaryIO

from bridge.errors import BridgeError

#: Items of a list that are pickled together.
PIECE = 500
#: Memory for one document. A hostile one of the largest size that is fetched needs about half of it.
MOST_BYTES = 3 * 1024**3


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):  # a lower limit holds already
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def _end_with(stream: BinaryIO) -> None:
    with contextlib.suppress(OSError):
        while stream.read(1):
            pass
    os._exit(1)


def _result(request: tuple[Any, tuple[Any, ...]]) -> tuple[bool, Any, list[Any]]:
    work, arguments = request
    try:
        value, items = work(*arguments)
    except BridgeError as error:
        return False, error, []
    except Exception as error:
        return False, f"{type(error).__name__}: {error}", []
    return True, value, items


def main() -> None:
    gc.disable()  # all memory goes with the process
    _limit_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    request = pickle.load(sys.stdin.buffer)  # noqa: S301  from our own process
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    is_result, value, items = _result(request)
    pickle.dump((is_result, value), answers)
    for at in range(0, len(items), PIECE):
        pickle.dump(items[at : at + PIECE], answers)
    pickle.dump([], answers)
    answers.flush()
    os._exit(0)  # taking a large tree apart takes seconds


if __name__ == "__main__":
    main()
