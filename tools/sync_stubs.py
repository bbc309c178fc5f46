"""Writes bridge/sync.pyi: the signatures of the asynchronous classes without `async`; `--check` compares instead."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
OUTPUT = ROOT / "bridge" / "sync.pyi"
CLASSES = {
    "Session": "bridge.surfaces.composition",
    "Page": "bridge.page.page",
    "AttachedSession": "bridge.session.attached.session",
    "DevicePool": "bridge.surfaces.device_pool.pool",
    "Locator": "bridge.page.locators.locators",
    "ExpectedPopup": "bridge.page.popups",
    "LocatorExpectations": "bridge.page.locators.expectations",
    "PageExpectations": "bridge.page.locators.expectations",
}
EXPECT = """@overload
def expect(subject: Locator) -> LocatorExpectations: ...
@overload
def expect(subject: Page) -> PageExpectations: ...
"""
# What a session offers to its own tabs.
INTERNAL = {
    "diagnose",
    "find",
    "finder",
    "observer",
    "on_attach",
    "open_tabs",
    "stay_awake",
}
HEAD = '"""Made by tools/sync_stubs.py out of the asynchronous classes: do not edit."""\n'
# A coroutine function there is a plain one here.
PLAIN = {"Job[Item, Value]": "Callable[[Session, Item], Value]"}
_WORD = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*")


class Imports:
    """What the annotations need, each from the module that defines it."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._trees: dict[str, ast.Module] = {}

    def need(self, annotation: str, module: str) -> str:
        for name in _WORD.findall(re.sub(r"'[^']*'|\"[^\"]*\"", "", annotation)):
            if name in CLASSES or name in dir(__builtins__) or name in ("None", "True", "False"):
                continue
            home, line = self._home(name, module)
            if home:
                self.lines.add(line)
        return annotation

    def _home(self, name: str, module: str) -> tuple[str, str]:
        tree = self._trees.get(module)
        if tree is None:
            tree = self._trees[module] = ast.parse(inspect.getsource(importlib.import_module(module)))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name and node.module:
                        inner = node.module.startswith("bridge.") and not hasattr(
                            importlib.import_module(node.module), "__all__"
                        )
                        return (
                            self._home(alias.name, node.module)
                            if inner
                            else (node.module, f"from {node.module} import {alias.name}")
                        )
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return alias.name, f"import {alias.name}"
        for node in tree.body:
            target = getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", None)
            targets = [target] if target else [getattr(item, "id", "") for item in getattr(node, "targets", [])]
            if name in targets:
                return module, f"from {module} import {name}"
        return "", ""


def method(name: str, function: Any, imports: Imports, kind: str) -> str:
    plain = inspect.unwrap(function)
    module = plain.__module__
    parameters = []
    starred = False
    for parameter in inspect.signature(plain).parameters.values():
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        text = stars.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            annotation = str(parameter.annotation)
            text += f": {imports.need(PLAIN.get(annotation, annotation), module)}"
        if parameter.default is not parameter.empty:
            text += " = ..."
        parameters.append(text)
    returned = str(inspect.signature(plain).return_annotation)
    if inspect.isasyncgenfunction(plain):
        inner = re.fullmatch(r"Async(?:Iterator|Generator)\[(.*?)(?:, None)?\]", returned)
        assert inner is not None, f"{name} -> {returned}"
        generic = "AbstractContextManager" if plain is not function else "Iterator"
        home = "contextlib" if plain is not function else "collections.abc"
        imports.lines.add(f"from {home} import {generic}")
        imports.need(inner[1], module)
        returned = f"{generic}[{inner[1]}]"
    else:
        if "AbstractAsyncContextManager" in returned:
            returned = returned.replace("AbstractAsyncContextManager", "AbstractContextManager")
            imports.lines.add("from contextlib import AbstractContextManager")
        imports.need(returned, module)
    decorator = f"    @{kind}\n" if kind else ""
    return f"{decorator}    def {name}({', '.join(parameters)}) -> {returned}: ...\n"


def stub_of(kind: type, imports: Imports) -> str:
    lines = []
    for name in sorted(set(dir(kind))):
        if name.startswith("_") or name in INTERNAL:
            continue
        found = inspect.getattr_static(kind, name)
        if isinstance(found, classmethod):
            lines.append(method(name, found.__func__, imports, "classmethod"))
        elif isinstance(found, property):
            assert found.fget is not None
            lines.append(method(name, found.fget, imports, "property"))
        elif inspect.isfunction(found):
            lines.append(method(name, found, imports, ""))
    for name, (annotation, module) in sorted(_attributes(kind).items()):
        lines.append(f"    {name}: {imports.need(annotation, module)}\n")
    return f"class {kind.__name__}:\n{''.join(lines)}"


def _attributes(kind: type) -> dict[str, tuple[str, str]]:
    """Public attributes that an __init__ sets from an annotated parameter, each with the module that says its type."""
    found: dict[str, tuple[str, str]] = {}
    for base in kind.__mro__[-2::-1]:
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base)))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                arguments = (*node.args.args, *node.args.kwonlyargs)
                known = {item.arg: ast.unparse(item.annotation) for item in arguments if item.annotation}
                for line in node.body:
                    if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Attribute):
                        found[line.target.attr] = ast.unparse(line.annotation), base.__module__
                    elif isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute):
                        found[line.targets[0].attr] = _type_of(line.value, known), base.__module__
    return {name: said for name, said in found.items() if said[0] and not name.startswith("_") and name not in INTERNAL}


def _type_of(value: ast.expr, known: dict[str, str]) -> str:
    """The type of what is assigned: a parameter, a new object, or one of the two attributes that are taken over."""
    if isinstance(value, ast.Name):
        return known.get(value.id, "")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id[0].isupper():
        return value.func.id
    if isinstance(value, ast.Attribute):
        return {"serial": "str", "is_virtual": "bool"}.get(value.attr, "")
    return ""


def main() -> int:
    imports = Imports()
    bodies = [stub_of(getattr(importlib.import_module(module), name), imports) for name, module in CLASSES.items()]
    imports.lines.add("from typing import overload")
    text = "\n\n".join([HEAD, "\n".join(sorted(imports.lines)), *bodies, EXPECT])
    for words in (["check", "--fix", "-q"], ["format", "-q"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(OUTPUT), "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=False, cwd=ROOT).stdout or text
    if "--check" in sys.argv:
        if OUTPUT.read_text() != text:
            print("bridge/sync.pyi is not what the asynchronous classes say: run tools/sync_stubs.py", file=sys.stderr)
            return 1
        return 0
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
