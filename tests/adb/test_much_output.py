"""What a device command says is taken in at a cost that grows with its size and not with the square of it."""

from __future__ import annotations

import time

from bridge.adb.shell_protocol import ShellOutput, ShellStream, encode_packet


def test_many_small_pieces_of_output_are_taken_in_quickly() -> None:
    output, pieces = ShellOutput(), 2_000
    began = time.process_time()
    for number in range(pieces):
        output.feed(encode_packet(ShellStream.STDOUT, f"{number:>4096}".encode()))
        assert output.last_words == str(number)  # as the error of a command that does not end would quote it
    assert time.process_time() - began < 15  # what joins all of it for each piece takes minutes
    output.feed(encode_packet(ShellStream.EXIT, b"\0"))
    assert output.result is not None
    assert len(output.result.stdout) == 4096 * pieces


def test_the_tail_of_the_output_has_whole_characters_only() -> None:
    output = ShellOutput()
    output.feed(encode_packet(ShellStream.STDERR, b"a warning"))
    output.feed(encode_packet(ShellStream.STDOUT, "ü".encode() * 5_000))
    assert output.last_words == "ü" * 200
