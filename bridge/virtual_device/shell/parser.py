"""Command lines as a tree: the part of the POSIX shell language that people send through adb.

Pure: text in, tree out. Words keep their quoting, because expansion happens when a command runs
(POSIX.1-2017 XCU §2.2 quoting, §2.6 expansions, §2.7 redirection, §2.9 commands). Loops and functions are not there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MAX_SCRIPT_CHARS = 256 * 1024
MAX_DEPTH = 16
_UNSUPPORTED = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function"}
)


class ShellSyntaxError(ValueError):
    """The line is not a command; the text is mksh's."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: literal text, a `$name`, or a `$(command)`."""

    kind: str  # "text" | "variable" | "command"
    text: str
    is_quoted: bool
    default: str | None = None


Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """`fd` goes to (`>`, `>>`), comes from (`<`) a word's file, or is a copy of another fd (`>&`)."""

    fd: int
    operator: str
    target: Word


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command, or a group in parentheses or braces when `group` is set."""

    assignments: tuple[tuple[str, Word], ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    group: Script | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Pipelines, each with what joins it to the one before: `;`, `&&`, `||`."""

    steps: tuple[tuple[str, Pipeline], ...] = field(default=())


def parse(text: str, *, depth: int = 0) -> Script:
    """The script.

    Raises:
        ShellSyntaxError: With the text that the shell prints.
    """
    if len(text) > MAX_SCRIPT_CHARS:
        raise ShellSyntaxError("argument list too long")
    parser = _Parser(text, depth)
    script = parser.script(closing="")
    if not parser.at_end():
        raise ShellSyntaxError(f"syntax error: unexpected '{parser.peek()}'")
    return script


class _Parser:
    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._at = 0
        self._depth = depth

    def at_end(self) -> bool:
        return self._at >= len(self._text)

    def peek(self, count: int = 1) -> str:
        return self._text[self._at : self._at + count]

    def script(self, closing: str) -> Script:
        steps: list[tuple[str, Pipeline]] = []
        joiner = ";"
        while True:
            self._skip_blank(newlines=True)
            if self.at_end() or (closing and self.peek() == closing):
                if joiner in ("&&", "||"):
                    raise ShellSyntaxError("syntax error: unexpected end of file")
                return Script(tuple(steps))
            steps.append((joiner, self._pipeline()))
            joiner = ";"
            self._skip_blank()
            if self.peek(2) in ("&&", "||"):
                joiner = self.peek(2)
                self._at += 2
            elif self.peek() in (";", "&", "\n"):
                self._at += 1  # nothing runs in the background here: `cmd &` is waited for
                if self.peek() == ";":
                    raise ShellSyntaxError("syntax error: unexpected ';;'")
            elif not self.at_end() and self.peek() != closing:
                raise ShellSyntaxError(f"syntax error: unexpected '{self.peek()}'")

    def _pipeline(self) -> Pipeline:
        is_negated = False
        if self.peek(2) in ("! ", "!\t"):
            is_negated = True
            self._at += 2
        commands = [self._command()]
        while True:
            self._skip_blank()
            if self.peek() != "|" or self.peek(2) == "||":
                return Pipeline(tuple(commands), is_negated)
            self._at += 1
            self._skip_blank(newlines=True)
            commands.append(self._command())

    def _command(self) -> Command:
        self._skip_blank()
        if self.peek() == "(" or self.peek(2) in ("{ ", "{\n"):
            return self._group()
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self._skip_blank()
            if redirect := self._redirect():
                redirects.append(redirect)
                continue
            if self.at_end() or self.peek() in ";&|\n()":
                break
            if not words and (name := self._assignment_name()):
                assignments.append((name, self._word() if not self._at_word_end() else ()))
                continue
            words.append(self._word())
        if not words and not assignments and not redirects:
            raise ShellSyntaxError(f"syntax error: unexpected '{self.peek() or 'end of file'}'")
        if words and len(words[0]) == 1 and words[0][0].text in _UNSUPPORTED and not words[0][0].is_quoted:
            raise ShellSyntaxError(f"'{words[0][0].text}' is not supported by the virtual device's shell")
        return Command(tuple(assignments), tuple(words), tuple(redirects))

    def _group(self) -> Command:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ShellSyntaxError("syntax error: nested too deeply")
        closing = ")" if self.peek() == "(" else "}"
        self._at += 1
        inner = self.script(closing)
        if self.peek() != closing:
            raise ShellSyntaxError("syntax error: unexpected end of file")
        self._at += 1
        self._depth -= 1
        redirects: list[Redirect] = []
        self._skip_blank()
        while redirect := self._redirect():
            redirects.append(redirect)
            self._skip_blank()
        return Command(redirects=tuple(redirects), group=inner)

    def _redirect(self) -> Redirect | None:
        start = self._at
        digits = ""
        while self.peek().isdigit() and len(digits) < 2:
            digits += self.peek()
            self._at += 1
        for operator in ("&>", ">>", ">&", "<&", ">|", "<<", ">", "<"):
            if self._text.startswith(operator, self._at) and not (operator == "&>" and digits):
                break
        else:
            self._at = start
            return None
        if operator == "<<":
            raise ShellSyntaxError("here documents are not supported by the virtual device's shell")
        self._at += len(operator)
        self._skip_blank()
        if self._at_word_end():
            raise ShellSyntaxError("syntax error: unexpected 'newline'")
        fd = int(digits) if digits else (0 if operator.startswith("<") else 1)
        return Redirect(fd, operator.replace(">|", ">"), self._word())

    def _assignment_name(self) -> str:
        end = self._at
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
            end += 1
        name = self._text[self._at : end]
        if not name or name[0].isdigit() or self._text[end : end + 1] != "=":
            return ""
        self._at = end + 1
        return name

    def _at_word_end(self) -> bool:
        return self.at_end() or self.peek() in " \t\n;&|()<>"

    def _word(self) -> Word:
        parts: list[Part] = []
        literal = ""
        while not self._at_word_end():
            char = self.peek()
            if char not in "\\'\"$`":
                literal += char
                self._at += 1
                continue
            if literal:
                parts.append(Part("text", literal, False))
                literal = ""
            parts.extend(self._special(is_quoted=False) if char != '"' else self._double_quoted())
        if literal:
            parts.append(Part("text", literal, False))
        return tuple(parts)

    def _special(self, *, is_quoted: bool) -> list[Part]:
        char = self.peek()
        self._at += 1
        if char == "\\":
            escaped = self.peek()
            self._at += 1
            if escaped == "\n":
                return []
            if is_quoted and escaped not in '$`"\\':
                return [Part("text", "\\" + escaped, True)]
            return [Part("text", escaped or "\\", True)]
        if char == "'":
            return [Part("text", self._until("'"), True)]
        if char == "`":
            return [Part("command", self._until("`"), is_quoted)]
        return self._dollar(is_quoted)

    def _double_quoted(self) -> list[Part]:
        self._at += 1
        parts = [Part("text", "", True)]
        literal = ""
        while self.peek() != '"':
            if self.at_end():
                raise ShellSyntaxError("no closing quote")
            if self.peek() in "\\$`":
                parts.append(Part("text", literal, True))
                literal = ""
                parts.extend(self._special(is_quoted=True))
            else:
                literal += self.peek()
                self._at += 1
        self._at += 1
        return [*parts, Part("text", literal, True)]

    def _dollar(self, is_quoted: bool) -> list[Part]:
        if self.peek() == "(":
            self._at += 1
            return [Part("command", self._balanced(), is_quoted)]
        if self.peek() == "{":
            self._at += 1
            name, dash, default = self._until("}").partition(":-")
            return [Part("variable", name, is_quoted, default if dash else None)]
        if self.peek() and self.peek() in "?$!#0123456789":
            self._at += 1
            return [Part("variable", self._text[self._at - 1], is_quoted)]
        start = self._at
        while self.peek().isalnum() or self.peek() == "_":
            self._at += 1
        if start == self._at:
            return [Part("text", "$", is_quoted)]
        return [Part("variable", self._text[start : self._at], is_quoted)]

    def _until(self, closing: str) -> str:
        end = self._text.find(closing, self._at)
        if end < 0:
            raise ShellSyntaxError("no closing quote")
        found = self._text[self._at : end]
        self._at = end + 1
        return found

    def _balanced(self) -> str:
        """The text up to the parenthesis that closes, quotes respected."""
        start, depth = self._at, 1
        while not self.at_end():
            char = self.peek()
            self._at += 1
            if char == "\\":
                self._at += 1
            elif char == "'":
                self._until("'")
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if depth == 0:
                    return self._text[start : self._at - 1]
        raise ShellSyntaxError("syntax error: unexpected end of file")

    def _skip_blank(self, *, newlines: bool = False) -> None:
        while not self.at_end():
            char = self.peek()
            if char in " \t\r" or (newlines and char == "\n"):
                self._at += 1
            elif self.peek(2) == "\\\n":
                self._at += 2
            elif char == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return
