"""What the adb server and adbd say, in bytes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.adb.shell_protocol import (
    ShellOutput,
    ShellPacketDecoder,
    ShellResult,
    ShellStream,
    command_line,
    encode_packet,
    parse_exit_mark,
)
from bridge.adb.smart_socket import (
    Cutter,
    DeviceEntry,
    NotAdb,
    Parser,
    Refused,
    T,
    answer,
    encode_request,
    parse_devices,
    parse_pairs,
    status,
)
from bridge.adb.sync_protocol import RemoteStat, encode_path_request, encode_send, recv_piece, send_reply, stat_reply
from bridge.errors import UsageError

sizes = st.lists(st.integers(1, 40), min_size=1)


def parse(parser: Parser[T], stream: bytes, cuts: list[int]) -> tuple[T, bytes]:
    """The parser's value and what it left unread, with reads that return at most as much as `cuts` say."""
    cutter = Cutter(parser)
    sizes_of_reads = itertools.cycle(cuts)
    position = 0
    while cutter.missing_bytes:
        size = min(cutter.missing_bytes, next(sizes_of_reads))
        assert position < len(stream), "the parser wants more than there is"
        piece = stream[position : position + size]
        cutter.feed(piece)
        position += len(piece)
    return cutter.value, stream[position:]


def block_of(text: bytes) -> bytes:
    return b"%04x" % len(text) + text


@given(st.binary(max_size=3000), st.binary(max_size=50), sizes)
def test_an_answer_does_not_depend_on_how_it_was_cut_and_nothing_behind_it_is_read(
    text: bytes, behind: bytes, cuts: list[int]
) -> None:
    assert parse(answer(), b"OKAY" + block_of(text) + behind, cuts) == (text, behind)


@given(st.text(max_size=200), sizes)
def test_a_refusal_brings_the_servers_reason(reason: str, cuts: list[int]) -> None:
    with pytest.raises(Refused) as refused:
        parse(status(), b"FAIL" + block_of(reason.encode()), cuts)
    assert refused.value.reason == reason


@given(st.binary(min_size=4, max_size=4).filter(lambda word: word not in (b"OKAY", b"FAIL")), sizes)
def test_anything_but_okay_or_fail_is_not_adb(word: bytes, cuts: list[int]) -> None:
    with pytest.raises(NotAdb) as seen:
        parse(status(), word, cuts)
    assert seen.value.seen == word


@pytest.mark.parametrize("digits", [b"00g0", b" 12 ", b"-001", b"0x1f", b"+001"])
def test_a_length_that_is_not_four_hex_digits_is_not_adb(digits: bytes) -> None:
    with pytest.raises(NotAdb):
        parse(answer(), b"OKAY" + digits + b"x" * 100, [3])


def test_a_request_counts_bytes_and_not_characters() -> None:
    assert encode_request("shell:é") == b"0008shell:\xc3\xa9"


def test_a_request_that_does_not_fit_its_length_field_is_an_error() -> None:
    with pytest.raises(UsageError, match="65535"):
        encode_request("x" * 0x10000)


@pytest.mark.parametrize("encode", [encode_request, lambda text: encode_path_request(b"STAT", text)])
def test_a_lone_surrogate_is_bad_usage(encode: Callable[[str], bytes]) -> None:
    with pytest.raises(UsageError, match="lone surrogate"):
        encode("/data/\ud83d")


def test_a_long_list_gives_serial_state_and_what_is_known_of_the_device() -> None:
    listed = (
        "emulator-5554          device product:sdk_gphone64 model:Pixel_8 device:emu64xa transport_id:3\n"
        "R5CT10                 unauthorized usb:1-2 transport_id:4\n"
        "192.168.1.5:5555       offline transport_id:12\n"
    )
    assert parse_devices(listed) == (
        DeviceEntry("emulator-5554", "device", "sdk_gphone64", "Pixel_8", 3),
        DeviceEntry("R5CT10", "unauthorized", transport_id=4),
        DeviceEntry("192.168.1.5:5555", "offline", transport_id=12),
    )


def test_a_short_list_gives_serial_and_state() -> None:
    assert parse_devices("emulator-5554\tdevice\nX\toffline\n") == (
        DeviceEntry("emulator-5554", "device"),
        DeviceEntry("X", "offline"),
    )


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (
            "R5CT10                 no permissions (missing udev rules? user is in the plugdev group); "
            "see [http://developer.android.com/tools/device.html] usb:1-1 transport_id:1",
            DeviceEntry("R5CT10", "no permissions", transport_id=1),
        ),
        (
            "adb-2A041-Xy (2)._adb-tls-connect._tcp device product:a model:b device:c transport_id:7",
            DeviceEntry("adb-2A041-Xy (2)._adb-tls-connect._tcp", "device", "a", "b", 7),
        ),
        (
            "(no serial number)     unauthorized 1-1 transport_id:9",
            DeviceEntry("(no serial number)", "unauthorized", transport_id=9),
        ),
        ("X                      hibernating transport_id:2", DeviceEntry("X", "hibernating", transport_id=2)),
    ],
)
def test_odd_lines_of_a_device_list_are_read(line: str, entry: DeviceEntry) -> None:
    assert parse_devices(line + "\n") == (entry,)


@given(st.text())
def test_no_device_list_crashes_the_parser(text: str) -> None:
    parse_devices(text)


def test_a_list_of_mappings_gives_serial_and_both_ends() -> None:
    assert parse_pairs("S tcp:1 localabstract:x\n\nbroken line\n") == (("S", "tcp:1", "localabstract:x"),)


packets = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=200)), max_size=20)


@given(packets, sizes)
def test_shell_packets_do_not_depend_on_how_they_were_cut(sent: list[tuple[int, bytes]], cuts: list[int]) -> None:
    stream = b"".join(encode_packet(number, payload) for number, payload in sent)
    decoder = ShellPacketDecoder()
    received: list[tuple[int, bytes]] = []
    position = 0
    for size in itertools.cycle(cuts):
        if position >= len(stream):
            break
        received += decoder.feed(stream[position : position + size])
        position += size
    assert received == sent


def test_a_shell_keeps_its_outputs_apart_and_ends_with_the_exit_code() -> None:
    output = ShellOutput()
    output.feed(encode_packet(ShellStream.STDOUT, b"a\xc3"))
    output.feed(encode_packet(ShellStream.STDERR, b"oops") + encode_packet(ShellStream.STDOUT, b"\xa9"))
    assert output.result is None
    output.feed(encode_packet(ShellStream.EXIT, b"\x07"))
    assert output.result == ShellResult(7, "aé", "oops")


@pytest.mark.parametrize(
    ("said", "result"),
    [
        (b"hello\nwvb-exit:0\n", ShellResult(0, "hello\n", "")),
        (b"hello\r\nwvb-exit:12\r\n", ShellResult(12, "hello\n", "")),
        (b"wvb-exit:0 is what I print\nwvb-exit:3\n", ShellResult(3, "wvb-exit:0 is what I print\n", "")),
        (b"cut off", ShellResult(-1, "cut off", "")),
        (b"x\nwvb-exit:" + b"1" * 5_000, ShellResult(-1, "x\nwvb-exit:" + "1" * 5_000, "")),
    ],
)
def test_an_old_shell_prints_its_exit_code_at_the_end(said: bytes, result: ShellResult) -> None:
    assert parse_exit_mark(said) == result


def test_the_words_of_a_command_are_quoted() -> None:
    assert command_line(["am", "start", "--es", "url", "a b'c;$d"]) == """am start --es url 'a b'"'"'c;$d'"""
    assert command_line("ls | wc -l") == "ls | wc -l"


@given(st.binary(max_size=2000), sizes)
def test_pieces_of_a_file_do_not_depend_on_how_they_were_cut(piece: bytes, cuts: list[int]) -> None:
    stream = b"DATA" + len(piece).to_bytes(4, "little") + piece + b"DONE" + bytes(4)
    first, rest = parse(recv_piece(), stream, cuts)
    assert (first, parse(recv_piece(), rest, cuts)) == (piece, (None, b""))


def test_a_file_that_cannot_be_read_or_written_brings_the_devices_reason() -> None:
    for parser in (recv_piece(), send_reply()):
        with pytest.raises(Refused, match="Permission denied"):
            parse(parser, b"FAIL" + (17).to_bytes(4, "little") + b"Permission denied", [5])


def test_a_size_beyond_the_protocols_limit_is_not_adb() -> None:
    for stream in (b"DATA\xff\xff\xff\x7f", b"FAIL\xff\xff\xff\x7f"):
        with pytest.raises(NotAdb):
            parse(recv_piece(), stream, [8])


def test_a_stat_has_mode_size_and_time() -> None:
    stream = b"STAT" + (0o100644).to_bytes(4, "little") + (5).to_bytes(4, "little") + (9).to_bytes(4, "little")
    assert parse(stat_reply(), stream, [3]) == (RemoteStat(0o100644, 5, 9), b"")


def test_a_file_is_sent_as_a_regular_file_with_its_mode() -> None:
    assert encode_send("/data/x", 0o644) == b"SEND\x0d\x00\x00\x00/data/x,33188"


def test_a_path_that_adbd_would_cut_is_an_error() -> None:
    with pytest.raises(UsageError, match="1024"):
        encode_path_request(b"STAT", "/" + "x" * 1024)
