"""Whoever connects to the device's port without a key of the user gets nothing, and breaks nothing."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from bridge.adb import AdbServer
from bridge.virtual_device.adb import auth
from bridge.virtual_device.adb.packets import MAX_PAYLOAD, VERSION, Packet, PacketCommand, PacketDecoder, encode
from bridge.virtual_device.device import VirtualDevice
from tests.virtual_device.conftest import Adb

HELLO = encode(Packet(PacketCommand.CNXN, VERSION, MAX_PAYLOAD, b"host::features=shell_v2"))


async def talk(device: VirtualDevice, sent: bytes, *, packets: int) -> list[Packet]:
    """What comes back, up to that many packets or the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", device.adbd.port)
    got: list[Packet] = []
    decoder = PacketDecoder()
    try:
        writer.write(sent)
        async with asyncio.timeout(30):
            while len(got) < packets and (chunk := await reader.read(65536)):
                got += decoder.feed(chunk)
    except ConnectionError:
        pass
    finally:
        writer.close()
    return got


async def test_an_unauthenticated_peer_gets_a_challenge_and_no_service(device: VirtualDevice) -> None:
    opening = encode(Packet(PacketCommand.OPEN, 1, 0, b"shell:id\0"))
    forged = encode(Packet(PacketCommand.AUTH, auth.AUTH_SIGNATURE, 0, os.urandom(256)))
    got = await talk(device, HELLO + opening + forged + opening, packets=2)
    assert [packet.command for packet in got] == [PacketCommand.AUTH, PacketCommand.AUTH]
    assert got[0].payload != got[1].payload, "each challenge is new"


async def test_offering_the_user_s_own_public_key_proves_nothing(device: VirtualDevice) -> None:
    own = (Path.home() / ".android/adbkey.pub").read_bytes()
    assert auth.parse_public_key(own) in auth.authorized_keys()
    offered = encode(Packet(PacketCommand.AUTH, auth.AUTH_RSAPUBLICKEY, 0, own + b"\0"))
    opening = encode(Packet(PacketCommand.OPEN, 1, 0, b"shell:id\0"))
    signed = encode(Packet(PacketCommand.AUTH, auth.AUTH_SIGNATURE, 0, bytes(256)))
    got = await talk(device, HELLO + offered + opening + signed, packets=2)
    assert {packet.command for packet in got} == {PacketCommand.AUTH}


async def test_strangers_who_keep_their_connections_do_not_keep_the_user_out(
    device: VirtualDevice, adb_here: Adb
) -> None:
    strangers = [await asyncio.open_connection("127.0.0.1", device.adbd.port) for _ in range(40)]
    for _, writer in strangers:
        writer.write(HELLO)
    await device.fault("drop_cable", {})
    strangers += [await asyncio.open_connection("127.0.0.1", device.adbd.port) for _ in range(40)]
    await device.fault("connect", {})
    assert (await adb_here.run("shell", "echo alive")).stdout == b"alive\n"
    for _, writer in strangers:
        writer.close()


async def test_attempts_to_authenticate_are_counted(device: VirtualDevice) -> None:
    forged = encode(Packet(PacketCommand.AUTH, auth.AUTH_SIGNATURE, 0, bytes(256)))
    got = await talk(device, HELLO + forged * 200, packets=200)
    assert len(got) <= 64


@pytest.mark.parametrize("seed", range(8))
async def test_noise_ends_its_own_connection_and_no_other(device: VirtualDevice, adb_here: Adb, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    for _ in range(20):
        noise = rng.randbytes(rng.randrange(1, 400))
        start = rng.choice([b"", HELLO, HELLO[: rng.randrange(len(HELLO))]])
        _, writer = await asyncio.open_connection("127.0.0.1", device.adbd.port)
        writer.write(start + noise)
        writer.close()
    assert (await adb_here.run("shell", "echo alive")).stdout == b"alive\n"


async def test_an_authenticated_peer_that_breaks_the_rules_is_dropped(
    device: VirtualDevice, adb_here: Adb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device.adbd, "accepts", lambda token, signature: True)
    signed = encode(Packet(PacketCommand.AUTH, auth.AUTH_SIGNATURE, 0, bytes(256)))
    opening = encode(Packet(PacketCommand.OPEN, 7, 0, b"exec:sleep 100\0"))
    flood = encode(Packet(PacketCommand.WRTE, 7, 1, bytes(1000))) * 5000
    odd = b"".join(
        encode(Packet(command, arg0, arg1, b"abc"))
        for command in (
            PacketCommand.OKAY,
            PacketCommand.WRTE,
            PacketCommand.CLSE,
            PacketCommand.SYNC,
            PacketCommand.STLS,
        )
        for arg0 in (0, 1, 7, 2**32 - 1)
        for arg1 in (0, 1, 9, 2**32 - 1)
    )
    for name in (b"", b"\0", b"\xff\xfe", b"shell", b"sync", b"reverse:forward:tcp:1", b"tcp:99999", b"localabstract:"):
        await talk(device, HELLO + signed + encode(Packet(PacketCommand.OPEN, 3, 0, name)) + odd, packets=4)
    got = await talk(device, HELLO + signed + opening + flood, packets=10_000)
    assert len(got) < 10_000, "the connection was ended"
    assert (await adb_here.run("shell", "echo alive")).stdout == b"alive\n"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"NOPE\0\0\0\0",
        b"STAT\xff\xff\xff\xff",
        b"SEND\x05\0\0\0/a,33OKAY",
        b"SEND\x0f\0\0\0/sdcard/x,33188DATA\xff\xff\xff\x7f",
        b"RECV\x02\0\0\0\xff\xfe",
        b"SND2\x02\0\0\0/x" + b"SND2" + b"\xff" * 8,
        b"STA2\x03\0\0\0/\0x",
    ],
)
async def test_bad_sync_requests_end_their_stream_only(
    device: VirtualDevice, adb_here: Adb, request_bytes: bytes
) -> None:
    server = AdbServer(device.options.adb_host, device.options.adb_port)
    sock = await server.device(device.serial).open_stream("sync:", timeout_s=10)
    reader, writer = await asyncio.open_connection(sock=sock)
    writer.write(request_bytes)
    try:
        async with asyncio.timeout(2):
            await reader.read(100)
    except TimeoutError:
        pass
    writer.close()
    assert (await adb_here.run("shell", "echo alive")).stdout == b"alive\n"
