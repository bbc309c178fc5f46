"""Prints measures of the code's structure and language, of the working tree or of git revisions side by side.

    tools/code_metrics.py [--wire] [REVISION…]

`.` is the working tree, which is also the default. `--wire` starts a virtual device and measures the way of
`page.click(ref)`, `page.snapshot()` and `page.goto()` from the public method to the socket.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_RELATIVE_CLAUSE = re.compile(r"(What|Whatever|Who|Whoever|Where|How|Whether|That|Those|Which|When|As)\b")
_TOLD = re.compile(r"\b(told|tells?|telling)\b", re.IGNORECASE)
_IS_NO = re.compile(r"\b(is|are|was) no \w+")
_JAVASCRIPT = re.compile(
    r"[\w)]\s*=>\s*[\w({\[!]|\bfunction\s*\w*\(|\b(?:const|let) (?:\w+\s*=|[{\[])"
    r"|\bdocument\.[a-z]|\bglobalThis\.|\baddEventListener\("
)
_CALL = re.compile(r"[\w.$?]+(\(.*\))?;?", re.DOTALL)


class Source:
    """The Python modules below `bridge` of one tree."""

    def __init__(self, root: Path) -> None:
        self.paths = sorted(path for path in (root / "bridge").rglob("*.py") if "__pycache__" not in path.parts)
        self.texts = {path: path.read_text(encoding="utf-8") for path in self.paths}
        self.trees = {path: ast.parse(text) for path, text in self.texts.items()}
        self.names = {_module_name(path.relative_to(root)): path for path in self.paths}

    def nodes(self) -> Iterator[ast.AST]:
        for tree in self.trees.values():
            yield from ast.walk(tree)


def _module_name(path: Path) -> str:
    parts = list(path.with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def largest_folder(source: Source) -> str:
    folders = Counter(path.parent for path in source.paths if path.name != "__init__.py")
    folder, count = folders.most_common(1)[0]
    return f"{count} in {folder.name}"


def imports_inside(source: Source, package: str) -> dict[str, set[str]]:
    """The modules of `package` that each of its modules imports, without those for types only."""
    inside = {name for name in source.names if name == package or name.startswith(f"{package}.")}
    return {name: _imported(source.trees[source.names[name]].body, inside) - {name} for name in inside}


def _imported(body: list[ast.stmt], inside: set[str]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = {f"{node.module}.{alias.name}" for alias in node.names} & inside
                found |= names or ({node.module} & inside)
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names} & inside
    return found


def floors(imports: dict[str, set[str]]) -> int:
    """The length of the longest chain of imports."""
    known: dict[str, int] = {}

    def height(name: str, above: tuple[str, ...]) -> int:
        if name not in known:
            below = [height(other, (*above, name)) for other in imports[name] if other not in above]
            known[name] = 1 + max(below, default=0)
        return known[name]

    return max((height(name, ()) for name in imports), default=0)


def one_importer(imports: dict[str, set[str]]) -> int:
    importers = Counter(name for imported in imports.values() for name in imported)
    return sum(count == 1 for count in importers.values())


def class_names_used_twice(source: Source) -> str:
    names = Counter(node.name for tree in source.trees.values() for node in tree.body if isinstance(node, ast.ClassDef))
    twice = sorted(name for name, count in names.items() if count > 1 and not name.startswith("_"))
    return f"{len(twice)}" + (f" ({', '.join(twice[:6])}{', …' if len(twice) > 6 else ''})" if twice else "")


def protocols(source: Source) -> int:
    return sum(
        isinstance(node, ast.ClassDef) and any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)
        for node in source.nodes()
    )


def javascript_lines(source: Source) -> int:
    """Lines of string literals that hold a JavaScript program; a call that fits on one line is none."""
    lines = 0
    for tree in source.trees.values():
        docstrings, inner = {id(node) for node in _docstrings(tree)}, set[int]()
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(part) for part in ast.walk(node)} - {id(node)}
                text = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            if id(node) in docstrings or id(node) in inner or not _JAVASCRIPT.search(text):
                continue
            height = (node.end_lineno or node.lineno) - node.lineno + 1
            if height > 1 or not _CALL.fullmatch(text):
                lines += height
    return lines


def code_lines(source: Source) -> int:
    """Lines without blank ones, comments and docstrings."""
    total = 0
    for path, text in source.texts.items():
        documented = {
            line
            for node in _docstrings(source.trees[path])
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        total += sum(
            bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
            for number, line in enumerate(text.split("\n"), 1)
        )
    return total


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.value


def relative_docstrings(source: Source) -> str:
    texts = [str(node.value).strip() for tree in source.trees.values() for node in _docstrings(tree)]
    return f"{sum(bool(_RELATIVE_CLAUSE.match(text)) for text in texts)} of {len(texts)}"


def is_no(source: Source) -> str:
    docstrings = {id(node) for tree in source.trees.values() for node in _docstrings(tree)}
    texts = [
        node.value
        for node in source.nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    everywhere = sum(len(_IS_NO.findall(text)) for text in source.texts.values())
    return f"{everywhere}, {sum(len(_IS_NO.findall(text)) for text in texts)} in strings"


def measures(root: Path) -> dict[str, str]:
    source = Source(root)
    page = imports_inside(source, "bridge.page")
    return {
        "modules in bridge": str(len(source.paths)),
        "modules in the largest folder": largest_folder(source),
        "bridge.page: floors of imports": str(floors(page)),
        "bridge.page: arrows": str(sum(map(len, page.values()))),
        "bridge.page: modules with one importer": str(one_importer(page)),
        "class names used twice": class_names_used_twice(source),
        "Protocol classes": str(protocols(source)),
        "lines of JavaScript in Python strings": str(javascript_lines(source)),
        "lines of code in bridge": str(code_lines(source)),
        "docstrings that open with a relative clause": relative_docstrings(source),
        '"told", "tell", "tells", "telling"': str(sum(len(_TOLD.findall(text)) for text in source.texts.values())),
        '"is no …", "are no …", "was no …"': is_no(source),
    }


# Runs with the measured tree first on the module path. Tasks inherit the stack that created them, so a path may lead
# through several tasks.
_WIRE = """
import asyncio, sys
import http.server, threading
from contextvars import ContextVar
from bridge import Session, TestServerGrant
from bridge.cdp.connection import CdpConnection

created_by = ContextVar("created_by", default=())
paths = []

def stack(frame):
    found = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("bridge.") and not module.startswith("bridge.deadline"):
            found.append(f"{module}:{frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(found[::-1])

def factory(loop, coroutine, **options):
    token = created_by.set((*created_by.get(), *stack(sys._getframe())))
    try:
        return asyncio.Task(coroutine, loop=loop, **options)
    finally:
        created_by.reset(token)

send = CdpConnection.send
def noted(self, method, *args, **kwargs):
    paths.append((method, (*created_by.get(), *stack(sys._getframe(1)), "bridge.cdp.connection:send")))
    return send(self, method, *args, **kwargs)
CdpConnection.send = noted

def shown(name, method):
    path = next(path for sent, path in paths if sent == method)
    way = path[[frame.rpartition(":")[2] for frame in path].index(name):]
    modules = {frame.partition(":")[0] for frame in way}
    print(f"{name}, {method}\\t{len(way)} frames, {len(modules)} modules\\t{' > '.join(way)}")

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>Shop</title><button>Pay</button>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

async def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, port = server.server_address
    asyncio.get_running_loop().set_task_factory(factory)
    async with Session.open("virtual", grants=[TestServerGrant(host, port)]) as session:
        page = await session.new_page()
        paths.clear()
        await page.goto(f"http://{host}:{port}/")
        shown("goto", "Page.navigate")
        paths.clear()
        ref = next(iter((await page.snapshot()).refs))
        shown("snapshot", "Runtime.evaluate")
        paths.clear()
        await page.click(ref)
        shown("click", "Runtime.evaluate")
        shown("click", "Input.dispatchTouchEvent")
asyncio.run(main())
"""


def wire_paths(root: Path) -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", _WIRE], capture_output=True, text=True, cwd=root, env=environment, check=False
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if len(rows) != 4:
        return {"way to the wire": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return {f"way of page.{name}": f"{count}: {way}" for name, count, way in rows}


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """The folder of a revision's files; `.` is the working tree."""
    if revision == ".":
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["git", "archive", revision, "bridge"], cwd=ROOT, capture_output=True, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        host_app = ROOT / "bridge" / "host" / "host_app.apk"
        if host_app.exists():
            (Path(folder) / "bridge" / "host" / "host_app.apk").write_bytes(host_app.read_bytes())
        yield Path(folder)


def main(arguments: list[str]) -> int:
    revisions = [argument for argument in arguments if not argument.startswith("-")] or ["."]
    if "--help" in arguments or set(arguments) - {*revisions, "--wire"}:
        print(__doc__)
        return 0 if "--help" in arguments else 2
    columns = []
    for revision in revisions:
        with tree_of(revision) as root:
            columns.append(measures(root) | (wire_paths(root) if "--wire" in arguments else {}))
    width = max(len(name) for column in columns for name in column)
    names = dict.fromkeys(name for column in columns for name in column)
    print(" " * width, *(f"{'working tree' if revision == '.' else revision[:12]:<28}" for revision in revisions))
    for name in names:
        cells = [column.get(name, "") for column in columns]
        if any(len(cell) > 28 for cell in cells):
            print(name)
            for revision, cell in zip(revisions, cells, strict=True):
                print(f"    {'working tree' if revision == '.' else revision[:12]}: {cell}")
        else:
            print(f"{name:<{width}}", *(f"{cell:<28}" for cell in cells))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
