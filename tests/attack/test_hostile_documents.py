"""A document costs the time that its reader allows, and blocks nothing else meanwhile."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.deadline import Deadline
from bridge.reading.fetch.response import FetchedResponse
from bridge.reading.fetch.response_text import read_response
from bridge.reading.fetch.text import Wanted
from bridge.reading.reader_process import MOST_BYTES
from bridge.reading.workers import CHEAP_TAGS, ReaderEnded, in_reader, read_document
from tests.attack.processes import is_running
from tests.virtual_device.engine_rig import web_server

CLI = (sys.executable, "-c", "from bridge.surfaces.cli import main; main()")
SIZE = 96_000


def filled(unit: str, before: str = "") -> str:
    return before + unit * ((SIZE - len(before)) // len(unit))


SHAPES = {
    "a wide table": filled("<td>a", "<table><tr>"),
    "spans": filled("<tr><td colspan=1000 rowspan=65534>a", "<table>"),
    "nested lists": filled("<ul><li>a"),
    "numbered lists": filled("<ol start=99999999><li>a"),
    "definitions": filled("<dl><dd>a"),
    "quotes of many lines": "<blockquote>" * 500 + "a<br>" * 18_000,
    "nested tables": filled("<table><tr><td>a"),
    "open formatting": filled("<p><font><b><i><u>a"),
    "one long list": filled("<li>a", "<ul>"),
    "headings": filled("<h1>a"),
    "ruby": filled("<ruby>a<rt>b"),
    "just cheap": "<td>a" * CHEAP_TAGS + "a" * 40_000,
}
# Reads the document in standard input as a fetch does, and prints the growth of the process in bytes.
MEASURE = """
import resource, sys
from bridge.deadline import Deadline
from bridge.reading.fetch.response import FetchedResponse
from bridge.reading.fetch.text import Wanted, page_text
def read(body):
    page_text(FetchedResponse("http://site.test/", 200, "text/html", "utf-8", "", body, False, ()), Wanted())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = read(b"<p>Some words.</p>")
print(read(sys.stdin.buffer.read()) - before)
"""


HTML = FetchedResponse("http://site.test/", 200, "text/html", "utf-8", "", b"", False, ())
# Of the processor, so that other processes of the machine do not count.
HELD_S = 0.05


def test_a_fetch_that_gives_up_ends_its_process_although_the_page_is_still_being_read() -> None:
    # 3.6 MB of open elements take most of a minute.
    with web_server({"/": "<div>a" * 600_000}) as port:
        arguments = ("fetch", f"http://127.0.0.1:{port}/", "--local", str(port), "--timeout", "4")
        with subprocess.Popen([*CLI, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as done:
            assert done.stderr is not None
            said = done.stderr.readline()
            said_at = time.monotonic()
            done.communicate(timeout=30)
            ended_s = time.monotonic() - said_at
    assert done.returncode != 0
    assert "timed out" in said or "took longer" in said
    assert ended_s < 1


async def test_a_page_that_is_given_up_leaves_no_reader(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    reading = asyncio.ensure_future(read_document("<p>" * 20_000, stays_busy, noted))
    await asyncio.to_thread(wait_until, lambda: pid_in(noted) > 0)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await asyncio.to_thread(wait_until, lambda: not is_running(pid_in(noted)))
    # The places of those that were given up are free.
    for _ in range(4):
        assert (await read_document("<p>" * 20_000, process_of))[0] != os.getpid()


def test_the_reader_of_a_killed_process_ends(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    program = f"""
import asyncio
from pathlib import Path
from bridge.reading.workers import read_document
from tests.attack.test_hostile_documents import stays_busy
asyncio.run(read_document("<p>" * 20_000, stays_busy, Path({str(noted)!r})))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as killed:
        wait_until(lambda: pid_in(noted) > 0)
        killed.kill()
    wait_until(lambda: not is_running(pid_in(noted)), timeout_s=5)


def stays_busy(_document: str, noted: Path) -> tuple[None, list[None]]:
    noted.write_text(str(os.getpid()))
    while True:
        pass


def process_of(_document: str) -> tuple[int, list[None]]:
    return os.getpid(), []


def pid_in(noted: Path) -> int:
    return int(noted.read_text() or 0) if noted.exists() else 0


def wait_until(is_so: Callable[[], bool], *, timeout_s: float = 20) -> None:
    deadline = Deadline.after(timeout_s)
    while not is_so():
        assert not deadline.passed
        time.sleep(0.01)


async def test_nothing_is_read_on_the_thread_of_the_event_loop() -> None:
    assert await in_reader(threading.get_ident) != threading.get_ident()


@pytest.mark.parametrize("shape", SHAPES)
async def test_no_document_holds_the_event_loop(shape: str) -> None:
    response = replace(HTML, body=SHAPES[shape].encode())
    gc.collect()
    gc.freeze()  # what the tests themselves keep is not walked through
    try:
        # On a busy machine the loop's thread may wait for a processor that the reader's thread has got.
        held_s = await held_by(response)
        for _ in range(2):
            held_s = held_s if held_s < HELD_S else await held_by(response)
        assert held_s < HELD_S
    finally:
        gc.unfreeze()


async def held_by(response: FetchedResponse) -> float:
    """The longest time of this process's processor between two turns of the loop."""
    held_s = 0.0
    reading = asyncio.ensure_future(read_response(response, Wanted()))
    while not reading.done():
        before = time.process_time()
        await asyncio.sleep(0.001)
        held_s = max(held_s, time.process_time() - before)
    assert (await reading).blocks
    return held_s


async def test_a_document_that_takes_too_much_memory_is_refused() -> None:
    pytest.importorskip("resource")
    if sys.platform != "linux":
        pytest.skip("only Linux limits the memory of a process")
    with pytest.raises(ReaderEnded, match="MemoryError"):
        await read_document("<p>" * 20_000, takes_memory)


def takes_memory(_document: str) -> tuple[int, list[None]]:
    return len(bytearray(MOST_BYTES)), []


@pytest.mark.parametrize("shape", SHAPES)
def test_a_document_takes_a_bounded_multiple_of_its_size_in_memory(shape: str) -> None:
    # An element takes a kilobyte, mostly its proxy in lxml and its block of text, and can be of five bytes.
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        input=SHAPES[shape].encode(),
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert int(done.stdout) < 400 * SIZE
