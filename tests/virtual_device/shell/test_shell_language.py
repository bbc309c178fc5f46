"""Command lines that adb clients send: quoting, expansion, pipes, redirection, exit codes."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.virtual_device.android.system import AndroidSystem
from bridge.virtual_device.shell import Shell, Streams
from bridge.virtual_device.shell.command_line import ShellSyntaxError, parse
from bridge.virtual_device.shell.pipes import BytesSource


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> AndroidSystem:
    return AndroidSystem(34, "TEST", tmp_path_factory.mktemp("device"))


class Captured:
    def __init__(self) -> None:
        self.content = bytearray()

    async def write(self, chunk: bytes) -> None:
        self.content += chunk


async def run(system: AndroidSystem, text: str, stdin: bytes = b"") -> tuple[int, str, str]:
    out, err = Captured(), Captured()
    status = await Shell(system).run(text, Streams(BytesSource(stdin), out, err))
    return status, out.content.decode(), err.content.decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo a   b", "a b\n"),
        ("echo 'a   b' \"c   d\" e\\ f", "a   b c   d e f\n"),
        ('echo "it\'s" \'say "x"\'', 'it\'s say "x"\n'),
        ("echo \"$USER\" '$USER' \\$USER", "shell $USER $USER\n"),
        ("false; echo $?", "1\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("echo one; echo two\necho three", "one\ntwo\nthree\n"),
        ("X='a  b'; echo \"$X\" ${X}c $NOTHING", "a  b a  bc\n"),
        ("export A=1 B=2; echo $A$B", "12\n"),
        ('export ANDROID_LOG_TAGS=""; exec echo logcat', "logcat\n"),  # adb logcat
        ("pm path dev.none; echo EXIT:$?", "EXIT:1\n"),  # adbutils
        ("CLASSPATH=/data/local/tmp/server.jar echo / com.example.Server", "/ com.example.Server\n"),  # scrcpy
        ("[ -e '/sdcard' ] && echo __PASS__", "__PASS__\n"),  # appium-adb
        ("sh -c 'echo a; echo b' | wc -l", "2\n"),
        ("sh -c 'echo a | cat; echo b' | cat", "a\nb\n"),
        ("printf 'a\\nb\\n' | grep b", "b\n"),
        ("echo hello | tr a-z A-Z | wc -c", "6\n"),
        ("printf '%s-%03d\\n' a 7 b 8", "a-007\nb-008\n"),
        ("# only a comment\necho x # tail", "x\n"),
        ("echo a#b", "a#b\n"),
        ("echo > /sdcard/f1; echo > /sdcard/f2; cd /sdcard; echo f* 'f*' nothing*", "f1 f2 f* nothing*\n"),
        ("echo to-err >&2 2>/dev/null; ls /nowhere 2>&1", "ls: /nowhere: No such file or directory\n"),
        ("echo a > /sdcard/t; echo b >> /sdcard/t; cat < /sdcard/t", "a\nb\n"),
        ("[ -d /sdcard ] && [ ! -e /nope ] && [ 3 -gt 2 ] && echo ok", "ok\n"),
        ("sh -c 'echo nested; exit 5'; echo $?", "nested\n5\n"),
        ("exit 3; echo unreachable", ""),
    ],
)
async def test_it_reads_as_a_posix_shell_reads(system: AndroidSystem, text: str, expected: str) -> None:
    assert (await run(system, text))[1] == expected


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("foo", 127, "/system/bin/sh: foo: inaccessible or not found\n"),
        ("/data/local/tmp/foo", 127, "/system/bin/sh: /data/local/tmp/foo: inaccessible or not found\n"),
        ("/sdcard", 126, "/system/bin/sh: /sdcard: can't execute: Is a directory\n"),
        ("echo 'open", 1, "no closing quote"),
        ("echo a ;; echo b", 1, "syntax error: unexpected ';;'"),
        ("&& echo", 1, "syntax error: unexpected '&&'"),
        ("echo x > /system/x", 1, "Read-only file system"),
        ("cat /nowhere", 1, "cat: /nowhere: No such file or directory\n"),
        ("for i in 1 2; do echo $i; done", 1, "'for' is not supported"),
        ("echo $(id)", 1, "'$(' is not supported"),
        ("echo `id`", 1, "'`i' is not supported"),
        ("(echo a)", 1, "syntax error: unexpected '('"),
        ("echo a |", 1, "syntax error: unexpected end of file"),
        ("echo a >", 1, "syntax error: unexpected 'newline'"),
    ],
)
async def test_it_fails_with_the_messages_of_a_device(
    system: AndroidSystem, text: str, status: int, words: str
) -> None:
    code, _, err = await run(system, text)
    assert code == status
    assert words in err


async def test_the_last_command_s_status_is_the_line_s(system: AndroidSystem) -> None:
    assert (await run(system, "exit 77"))[0] == 77
    assert (await run(system, "true | false"))[0] == 1
    assert (await run(system, "false | true"))[0] == 0
    assert (await run(system, "exit 300"))[0] == 44


async def test_head_ends_an_endless_writer(system: AndroidSystem) -> None:
    system.log("Test", "line for logcat")
    assert (await run(system, "logcat | head -n 1"))[1] == "--------- beginning of main\n"


async def test_standard_input_reaches_the_first_command_that_reads_it(system: AndroidSystem) -> None:
    assert (await run(system, "cat | wc -c", b"12345"))[1] == "5\n"


@given(st.text(alphabet=st.sampled_from("ab $'\"\\`(){};&|<>#\n=*?!-0"), max_size=40))
def test_any_text_parses_or_is_one_kind_of_error(text: str) -> None:
    with contextlib.suppress(ShellSyntaxError):
        parse(text)


def test_a_long_line_is_parsed_in_one_pass() -> None:
    assert parse("#\n" * 50_000) == ()
    assert len(parse("echo a;" * 30_000)) == 30_000


@given(st.lists(st.text(max_size=8), min_size=1))
def test_quoted_arguments_reach_the_command_unchanged(words: list[str]) -> None:
    (pipeline,) = parse(shlex.join(["echo", *words]))
    (command,) = pipeline.commands
    assert ["".join(part.text for part in word) for word in command.words[1:]] == words


async def test_a_script_that_runs_itself_is_stopped(system: AndroidSystem, tmp_path: Path) -> None:
    await run(system, "echo 'sh /sdcard/again' > /sdcard/again")
    status, _, err = await run(system, "sh /sdcard/again")
    assert status == 1
    assert "nested too deeply" in err
