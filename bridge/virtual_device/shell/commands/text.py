"""Text tools for pipes on a device: echo, printf, grep, head, tail, wc, sort, checksums and tests."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncIterator

from bridge.virtual_device.shell.call import Call, command, split_options

MAX_SLEEP_S = 600.0
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "a": "\a", "b": "\b", "0": "\0", "e": "\x1b"}


def unescape(text: str) -> str:
    """Backslash escapes as `echo -e` and `printf` take them."""
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)


@command("echo")
async def echo(call: Call) -> int:
    words, newline, escapes = list(call.args), "\n", False
    while words and re.fullmatch("-[neE]+", words[0]):
        flags = words.pop(0)
        newline = "" if "n" in flags else newline
        escapes = "e" in flags or escapes
    text = " ".join(words)
    await call.out((unescape(text) if escapes else text) + newline)
    return 0


@command("printf")
async def printf(call: Call) -> int:
    if not call.args:
        return await call.complain("usage: printf FORMAT [ARG...]")
    template, values = unescape(call.args[0]), list(call.args[1:])
    pattern = re.compile(r"%(-?0?\d{0,4}(?:\.\d{1,4})?)([sdixXuc%b])")
    while True:
        before = len(values)

        def fill(match: re.Match[str]) -> str:
            if match[2] == "%":
                return "%"
            value = values.pop(0) if values else ""
            if match[2] in "sbc":
                return f"%{match[1]}s" % (value[:1] if match[2] == "c" else value)
            number = int(value) if re.fullmatch(r"-?\d{1,18}", value) else 0
            return f"%{match[1]}{match[2].replace('u', 'd')}" % number

        await call.out(pattern.sub(fill, template))
        if not values or len(values) == before:
            return 0


@command("true", ":")
async def true(call: Call) -> int:
    return 0


@command("false")
async def false(call: Call) -> int:
    return 1


@command("sleep")
async def sleep(call: Call) -> int:
    total = 0.0
    for word in call.args:
        if not (match := re.fullmatch(r"(\d{0,9}\.?\d{0,9})([smhd]?)", word)) or not match[1].strip("."):
            return await call.complain(f"bad '{word}'")
        total += float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]
    await asyncio.sleep(min(total, MAX_SLEEP_S))
    return 0


@command("grep", "egrep", "fgrep")
async def grep(call: Call) -> int:
    options, rest = split_options(call.args, with_value="emABC")
    pattern = options.get("e") or (rest.pop(0) if rest else None)
    if pattern is None:
        return await call.complain("no REGEX", 2)
    fixed = "F" in options or call.name == "fgrep"
    if not fixed and "E" not in options and call.name == "grep":
        pattern = pattern.replace(
            r"\|", "|"
        )  # the one difference of basic regular expressions that matters in practice
    try:
        matcher = re.compile(re.escape(pattern) if fixed else pattern, re.IGNORECASE if "i" in options else 0)
    except re.error as error:
        return await call.complain(f"bad REGEX '{pattern}': {error}", 2)
    wanted = "v" not in options
    limit = int(options["m"]) if options.get("m", "").isdecimal() else -1
    count, name = 0, "-"
    async for number, line in _lines(call, rest):
        found = matcher.search(line)
        if "w" in options and found:
            found = re.search(rf"(?<!\w)(?:{matcher.pattern})(?!\w)", line, matcher.flags)
        if bool(found) != wanted:
            continue
        count += 1
        if "q" in options:
            return 0
        if "c" not in options and "l" not in options:
            shown = found[0] if "o" in options and found else line
            await call.line(f"{number}:{shown}" if "n" in options else shown)
        if count == limit:
            break
    if "c" in options:
        await call.line(str(count))
    if "l" in options and count:
        await call.line(rest[0] if rest else name)
    return 0 if count else 1


async def _lines(call: Call, names: list[str]) -> AsyncIterator[tuple[int, str]]:
    """Numbered lines of the named files, or of standard input as it comes."""
    if names:
        async for _, content in call.inputs(names):
            for number, raw in enumerate(content.splitlines(), 1):
                yield number, raw.decode("utf-8", "surrogateescape")
        return
    buffered, number = b"", 0
    while chunk := await call.stdin.read():
        *whole, buffered = (buffered + chunk).split(b"\n")
        for raw in whole:
            number += 1
            yield number, raw.decode("utf-8", "surrogateescape")
    if buffered:
        yield number + 1, buffered.decode("utf-8", "surrogateescape")


def _count(call: Call, default: int) -> tuple[int, dict[str, str], list[str]]:
    args = [f"-n{word[1:]}" if re.fullmatch(r"-\d+", word) else word for word in call.args]
    options, rest = split_options(args, with_value="nc")
    value = options.get("n", options.get("c", ""))
    return (int(value) if re.fullmatch(r"-?\d{1,9}", value) else default), options, rest


async def _first_bytes(call: Call, name: str, count: int) -> None:
    """Writes up to `count` bytes of a file, or of standard input for "-", without reading the rest."""
    chunks = iter(()) if name == "-" else call.system.files.read_chunks(call.path(name))
    while count > 0:
        chunk = await call.stdin.read() if name == "-" else next(chunks, b"")
        if not chunk:
            break
        await call.stdout.write(chunk[:count])
        count -= len(chunk)


@command("head")
async def head(call: Call) -> int:
    count, options, rest = _count(call, 10)
    if "c" in options:
        for name in rest or ["-"]:
            await _first_bytes(call, name, count)
        return 0
    if rest:
        async for _, content in call.inputs(rest):
            await call.stdout.write(b"".join(content.splitlines(True)[:count]))
        return 0
    if count > 0:
        async for number, line in _lines(call, rest):
            await call.line(line)
            if number >= count:
                break
    return 0


@command("tail")
async def tail(call: Call) -> int:
    count, options, rest = _count(call, 10)
    async for _, content in call.inputs(rest):
        if "c" in options:
            await call.stdout.write(content[-count:] if count else b"")
        else:
            await call.stdout.write(b"".join(content.splitlines(True)[-count:]) if count else b"")
    return 0


@command("wc")
async def wc(call: Call) -> int:
    options, rest = split_options(call.args)
    async for name, content in call.inputs(rest):
        counts = {"l": content.count(b"\n"), "w": len(content.split()), "c": len(content)}
        shown = [str(counts[key]) for key in "lwc" if key in options or not options]
        await call.line(" ".join([*shown, *([name] if name != "-" else [])]))
    return 0


@command("sort")
async def sort(call: Call) -> int:
    options, rest = split_options(call.args, with_value="kt")
    lines = [line async for _, line in _lines(call, rest)]
    if "n" in options:
        lines.sort(key=lambda line: float(match[0]) if (match := re.match(r"\s*-?\d+", line)) else 0.0)
    else:
        lines.sort()
    if "u" in options:
        lines = list(dict.fromkeys(lines))
    for line in reversed(lines) if "r" in options else lines:
        await call.line(line)
    return 0


@command("uniq")
async def uniq(call: Call) -> int:
    last = None
    async for _, line in _lines(call, call.args):
        if line != last:
            await call.line(line)
        last = line
    return 0


@command("tr")
async def tr(call: Call) -> int:
    options, rest = split_options(call.args)
    sets = [unescape(word) for word in rest]
    body = (await call.read_all()).decode("utf-8", "surrogateescape")
    if "d" in options and sets:
        await call.out(body.translate({ord(char): None for char in sets[0]}))
    elif len(sets) == 2 and sets[1]:
        await call.out(
            body.translate({ord(char): sets[1][min(at, len(sets[1]) - 1)] for at, char in enumerate(sets[0])})
        )
    else:
        return await call.complain("Needs 2 arguments")
    return 0


@command("cut")
async def cut(call: Call) -> int:
    options, rest = split_options(call.args, with_value="dfc")
    first, dash, last = options.get("f", options.get("c", "")).partition("-")
    if not re.fullmatch(r"\d{1,6}", first) or not re.fullmatch(r"\d{0,6}", last):
        return await call.complain("Needs -f or -c with a number or a range")
    chosen = slice(int(first) - 1, int(last) if last else None if dash else int(first))
    separator = options.get("d", "\t")
    async for _, line in _lines(call, rest):
        await call.line(separator.join(line.split(separator)[chosen]) if "f" in options else line[chosen])
    return 0


@command("md5sum", "sha1sum", "sha256sum", "sha512sum")
async def checksum(call: Call) -> int:
    options, rest = split_options(call.args)
    status = 0
    for name in rest or ["-"]:
        digest = hashlib.new(call.name.removeprefix("/system/bin/").removesuffix("sum"), usedforsecurity=False)
        try:
            chunks = [await call.read_all()] if name == "-" else call.system.files.read_chunks(call.path(name), 1 << 20)
            for chunk in chunks:
                digest.update(chunk)
                await asyncio.sleep(0)
        except OSError as error:
            status = await call.complain(f"{name}: {error.strerror}")
            continue
        await call.line(digest.hexdigest() if "b" in options else f"{digest.hexdigest()}  {name}")
    return status


@command("base64")
async def encode_base64(call: Call) -> int:
    options, rest = split_options(call.args, with_value="w")
    async for _, content in call.inputs(rest):
        if "d" in options:
            await call.stdout.write(base64.b64decode(content))
        else:
            text = base64.b64encode(content).decode()
            width = int(options["w"]) if options.get("w", "").isdecimal() else 76
            for at in range(0, len(text), width or len(text) or 1):
                await call.line(text[at : at + (width or len(text))])
    return 0


@command("test", "[", "[[")
async def test(call: Call) -> int:
    words = list(call.args)
    if call.name in ("[", "[["):
        if words[-1:] != ["]" if call.name == "[" else "]]"]:
            return await call.complain("missing ]", 2)
        words.pop()
    negated = bool(words) and words[0] == "!" and len(words) > 1
    truth = _evaluate(call, words[1:] if negated else words)
    if truth is None:
        return await call.complain("syntax error", 2)
    return int(truth == negated)


def _evaluate(call: Call, words: list[str]) -> bool | None:
    match words:
        case []:
            return False
        case [word]:
            return word != ""
        case ["-n", word]:
            return word != ""
        case ["-z", word]:
            return word == ""
        case [("-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h") as flag, name]:
            return _file_test(call, flag, name)
        case [left, "=" | "==", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, ("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") as operator, right]:
            if not all(re.fullmatch(r"-?\d{1,18}", side) for side in (left, right)):
                return None
            difference = int(left) - int(right)
            return {
                "-eq": difference == 0,
                "-ne": difference != 0,
                "-lt": difference < 0,
                "-le": difference <= 0,
                "-gt": difference > 0,
                "-ge": difference >= 0,
            }[operator]
    return None


def _file_test(call: Call, flag: str, name: str) -> bool:
    try:
        found = call.system.files.stat(call.path(name))
    except OSError:
        return False
    if flag in ("-L", "-h"):
        return False
    if flag == "-w":
        return found.uid == 2000
    return {"-f": found.is_file, "-d": found.is_dir, "-s": found.size > 0}.get(flag, True)
