"""Servers that take their time or send without end: each fetch ends in time, and in bounded memory."""

from __future__ import annotations

import asyncio
import gzip
import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from bombs import brotli_bomb, gzip_bomb, nested_gzip_bomb
from site_server import HEAD, MappedEgress, Site, failure

from bridge.errors import (
    DeadlineExceeded,
    NotText,
    RequestTimedOut,
)
from bridge.reading.fetch import webfetch
from bridge.reading.fetch.http import MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"", "waiting for site.test"),
        (b"HTTP/1.1 200 OK\r\nContent-Ty", "waiting for site.test"),
        (HEAD + b"Content-Length: 100\r\n\r\nabc", "3 bytes of the body"),
    ],
    ids=["no answer", "half of the headers", "half of the body"],
)
async def test_a_server_that_falls_silent_is_left_when_the_time_is_over(
    site: Site, egress: MappedEgress, sent: bytes, seen: str
) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        await asyncio.Event().wait()

    started = time.monotonic()
    error = await failure(site.does("/", stall), egress, timeout_s=0.4)
    assert time.monotonic() - started < 20
    assert isinstance(error, RequestTimedOut)
    assert isinstance(error, DeadlineExceeded)
    assert error.message.startswith(f"Request timed out: {site.url()} took longer than 0.4 s")
    assert seen in error.message
    assert error.code == "timeout"


async def test_a_body_that_drips_does_not_outlive_the_deadline(site: Site, egress: MappedEgress) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    error = await failure(site.does("/", drip), egress, timeout_s=0.5)
    assert isinstance(error, RequestTimedOut)


async def test_headers_that_drip_do_not_outlive_the_deadline(site: Site, egress: MappedEgress) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for count in range(10_000):
            writer.write(b"X-%d: y\r\n" % count)
            await writer.drain()
            await asyncio.sleep(0.02)

    assert isinstance(await failure(site.does("/", drip), egress, timeout_s=0.5), RequestTimedOut)


async def test_an_endless_body_is_cut_after_the_first_megabytes_and_reported(site: Site, egress: MappedEgress) -> None:
    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"\r\n<h1>Endless</h1>")
        while True:
            writer.write(b"<p>" + b"and on and on, " * 2_000 + b"\n")
            await writer.drain()

    page = await webfetch(site.does("/", pour), egress=egress, max_length=200)
    assert page.markdown.startswith("# Endless")
    assert page.truncated
    assert page.truncate_reasons == ("maxBody", "maxLength")
    assert page.body_bytes == MAX_BODY_BYTES
    assert any("larger than 5,000,000 bytes" in note for note in page.notes)
    await asyncio.wait_for(site.gone.wait(), 5)  # the connection was closed, not left to pour


@pytest.mark.parametrize(
    ("coding", "make"), [("gzip", gzip_bomb), ("br", brotli_bomb), ("gzip, gzip", nested_gzip_bomb)]
)
async def test_a_bomb_unfolds_to_five_megabytes_and_no_further(
    site: Site, egress: MappedEgress, coding: str, make: object
) -> None:
    bomb = make()  # type: ignore[operator]
    assert len(bomb) < 2_000_000
    url = site.add("/", bomb, "text/plain", Content_Encoding=coding)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        try:
            page = await webfetch(url, egress=egress)
            assert page.truncate_reasons[0] == "maxBody"
        except NotText:  # 400 MB of zero bytes are no text, which is found out after the same 5 MB
            pass
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < 12 * MAX_BODY_BYTES


async def test_a_coding_that_never_hands_anything_out_is_not_read_for_ever(site: Site, egress: MappedEgress) -> None:
    empty_members = gzip.compress(b"") * 3_000

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>first</p>"))
        while True:
            writer.write(empty_members)
            await writer.drain()

    page = await webfetch(site.does("/", pour), egress=egress)
    assert "first" in page.markdown
    assert page.truncate_reasons == ("maxBody",)


async def test_a_hundred_fetches_leave_no_connection_and_no_task(site: Site, egress: MappedEgress) -> None:
    site.add("/", "<p>x</p>")
    site.add("/e", status="404 Not Found")
    tasks = len(asyncio.all_tasks())
    for _ in range(50):
        await webfetch(site.url("/"), egress=egress)
        await failure(site.url("/e"), egress)
    assert len(egress.records) == site.connections == 100
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) <= tasks + 1


IN_A_FRESH_PROCESS = """
import asyncio, resource, sys
from bombs import brotli_bomb, gzip_bomb, nested_gzip_bomb
from site_server import MappedEgress, serve
from bombs import brotli_bomb, gzip_bomb
from bridge.errors import NotText
from bridge.reading.fetch import webfetch

async def main():
    async with serve() as site:
        await webfetch(site.add("/warm", "<p>warm</p>", Content_Encoding="identity"), egress=MappedEgress())
        bombs = {coding: make() for coding, make in (("gzip", gzip_bomb), ("br", brotli_bomb))}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for coding, bomb in bombs.items():
            try:
                await webfetch(site.add("/", bomb, "text/plain", Content_Encoding=coding), egress=MappedEgress())
            except NotText:
                pass
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
asyncio.run(main())
"""


def test_bombs_do_not_grow_the_process_either() -> None:
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", IN_A_FRESH_PROCESS],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    grown_bytes = int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert grown_bytes < 12 * MAX_BODY_BYTES
