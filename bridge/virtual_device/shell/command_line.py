"""Parses a command line into pipelines of commands: what adb clients send, not the whole shell language.

Supported: quoting, `$NAME`, `${NAME}`, `$?`, wildcards, assignments, `|`, `&&`, `||`, `;`, redirections (POSIX.1-2017
XCU §2.2, §2.6.2, §2.7, §2.9). Refused with a syntax error: loops, conditions, functions, groups, command substitution
and here-documents. Words keep their quoting, because they are expanded when the command runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_CHARS = 256 * 1024
_RESERVED = frozenset("if then else elif fi for while until do done case esac function eval { } !".split())
_TOKEN = re.compile(
    r"""
      (?P<blank>    [ \t\r]+ | \\\n | (?<![^\s;&|]) \#[^\n]* )
    | (?P<redirect> (?: (?<![^\s;&|]) [0-2] )? (?: >> | >& | <& | > | < ) | &> )
    | (?P<operator> && | \|\| | ;; | [;&|()\n] )
    | (?P<single>   '[^']*' )
    | (?P<double>   "(?: [^"\\] | \\. )*" )
    | (?P<escape>   \\. )
    | (?P<variable> \$ (?: \{\w+\} | [A-Za-z_]\w* | [0-9?$\#!] ) )
    | (?P<literal>  [^\s;&|()<>'"\\`$]+ | \$ (?![({]) )
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE_QUOTES = re.compile(
    r"""
      (?P<escape>   \\[$`"\\\n] )
    | (?P<variable> \$ (?: \{\w+\} | [A-Za-z_]\w* | [0-9?$\#!] ) )
    | (?P<quoted>   [^$`\\]+ | \\ | \$ (?![({]) )
    """,
    re.VERBOSE,
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


class ShellSyntaxError(ValueError):
    """The text is not a command line; the message is what mksh prints."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: literal text or the name of a variable. Wildcards count in unquoted text only."""

    text: str
    is_quoted: bool = False
    is_variable: bool = False


Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    fd: int
    operator: str  # "<", ">", ">>", "<&", ">&", "&>"
    target: Word


@dataclass(slots=True)
class ShellCommand:
    assignments: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.assignments or self.words or self.redirects)

    def add(self, word: Word) -> None:
        """Adds a word: an assignment as long as no other word came, then the command's name and its arguments."""
        match = None if self.words or word[0].is_quoted else _ASSIGNMENT.fullmatch(word[0].text)
        if match:
            rest = (Part(match[2]), *word[1:]) if match[2] else word[1:]
            self.assignments.append((match[1], rest))
            return
        if not self.words and word[0].text in _RESERVED and not word[0].is_quoted and len(word) == 1:
            raise ShellSyntaxError(f"'{word[0].text}' is not supported by the virtual device's shell")
        self.words.append(word)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; `joiner` joins them to the pipeline before: ";", "&&" or "||"."""

    joiner: str
    commands: tuple[ShellCommand, ...]


def parse(text: str) -> tuple[Pipeline, ...]:
    """The pipelines of a command line.

    Raises:
        ShellSyntaxError: It is malformed, or uses a part of the language that is not supported.
    """
    if len(text) > MAX_CHARS:
        raise ShellSyntaxError("argument list too long")
    pipelines: list[Pipeline] = []
    commands: list[ShellCommand] = []
    command, joiner, redirect = ShellCommand(), ";", ""
    for item in (*_tokens(text), "\n"):
        if isinstance(item, tuple):
            if redirect:
                command.redirects.append(_redirect(redirect, item))
                redirect = ""
            else:
                command.add(item)
            continue
        if redirect:
            raise ShellSyntaxError("syntax error: unexpected 'newline'")
        if item[-1] in "<>" or item[-2:] in (">&", "<&"):
            redirect = item
        elif item in (";;", "(", ")"):
            raise ShellSyntaxError(f"syntax error: unexpected '{item}'")
        elif not command.is_empty:
            commands.append(command)
            command = ShellCommand()
            if item != "|":
                pipelines.append(Pipeline(joiner, tuple(commands)))
                commands, joiner = [], item if item in ("&&", "||") else ";"
        elif item != "\n":
            raise ShellSyntaxError(f"syntax error: unexpected '{item}'")
    if commands or joiner != ";":
        raise ShellSyntaxError("syntax error: unexpected end of file")
    return tuple(pipelines)


def _tokens(text: str) -> Iterator[str | Word]:
    """Operators and redirections as text, words as tuples of parts."""
    word: list[Part] = []
    for match in _matches(_TOKEN, text):
        kind, found = str(match.lastgroup), match[0]
        if kind not in ("blank", "redirect", "operator"):
            word += _parts(kind, found)
            continue
        if found == "\\\n":  # a line continuation also joins the halves of a word
            continue
        if word:
            yield tuple(word)
            word = []
        if kind != "blank":
            yield found
    if word:
        yield tuple(word)


def _parts(kind: str, found: str) -> list[Part]:
    match kind:
        case "single":
            return [Part(found[1:-1], is_quoted=True)]
        case "double":
            inner = [
                Part(match[0].strip("${}") or "$", is_quoted=True, is_variable=True)
                if match.lastgroup == "variable"
                else Part(match[0][1:].strip("\n") if match.lastgroup == "escape" else match[0], is_quoted=True)
                for match in _matches(_IN_DOUBLE_QUOTES, found[1:-1])
            ]
            return inner or [Part("", is_quoted=True)]
        case "escape":
            return [Part(found[1:], is_quoted=True)]
        case "variable":
            return [Part(found.strip("${}") or "$", is_variable=True)]
    return [Part(found)]


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        match = pattern.match(text, at)
        if match is None:
            if text[at] in "`$":
                raise ShellSyntaxError(f"'{text[at : at + 2]}' is not supported by the virtual device's shell")
            raise ShellSyntaxError("no closing quote")
        yield match
        at = match.end()


def _redirect(operator: str, target: Word) -> Redirect:
    if operator[0].isdigit():
        return Redirect(int(operator[0]), operator[1:], target)
    return Redirect(0 if operator[0] == "<" else 1, operator, target)
