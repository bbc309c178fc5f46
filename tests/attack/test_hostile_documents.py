"""A document costs the time that its reader allows, and blocks nothing else meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from bridge.reading.workers import in_reader
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
}
# Reads the document in standard input as a fetch does, and prints the growth of the process in bytes.
MEASURE = """
import resource, sys
from bridge.reading.fetch.response import FetchedResponse
from bridge.reading.fetch.text import Wanted, page_text
def read(body):
    page_text(FetchedResponse("http://site.test/", 200, "text/html", "utf-8", "", body, False, ()), Wanted())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = read(b"<p>Some words.</p>")
print(read(sys.stdin.buffer.read()) - before)
"""


def test_a_fetch_that_gives_up_ends_its_process_although_the_page_is_still_being_read() -> None:
    # 3.6 MB of open elements take minutes.
    with web_server({"/": "<div>a" * 600_000}) as port:
        arguments = ("fetch", f"http://127.0.0.1:{port}/", "--local", str(port), "--timeout", "3")
        done = subprocess.run([*CLI, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "timed out" in done.stderr or "took longer" in done.stderr


async def test_nothing_is_read_on_the_thread_of_the_event_loop() -> None:
    assert await in_reader(threading.get_ident) != threading.get_ident()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_document_takes_a_bounded_multiple_of_its_size_in_memory(shape: str) -> None:
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        input=SHAPES[shape].encode(),
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert int(done.stdout) < 1500 * SIZE
