"""Bodies that unfold to far more than they are."""

from __future__ import annotations

import gzip
import zlib

import brotli


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"\0" * 1_000_000
    return b"".join(packer.compress(b"<p>boom</p>" if i == 0 else block) for i in range(400)) + packer.flush()


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=5, lgwin=22)
    block = b" " * 1_000_000
    return b"".join(packer.process(b"<p>boom</p>" if i == 0 else block) for i in range(400)) + packer.finish()


def nested_gzip_bomb() -> bytes:
    return gzip.compress(gzip_bomb())
