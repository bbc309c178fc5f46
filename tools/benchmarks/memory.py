"""How much memory this process holds, and has held."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def sampling(value: Callable[[], int]) -> Iterator[list[int]]:
    """What `value` has been, every few milliseconds."""
    samples, over = [value()], threading.Event()

    def sample() -> None:
        while not over.wait(0.005):
            samples.append(value())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()
