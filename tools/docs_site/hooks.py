"""MkDocs hooks: generate the reference pages, and rewrite links that leave the documentation folder."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)([^)\s]*)\)")
#: The objects of the Python reference, in order.
PYTHON = (
    "bridge.session.session.Session",
    "bridge.page.page.Page",
    "bridge.page.locators.locators.Locator",
    "bridge.page.locators.assertions",
    "bridge.page.results",
    "bridge.BrowserPolicy",
    "bridge.policy.grant",
    "bridge.DevicePool",
    "bridge.snapshot.program",
    "bridge.errors",
)


def on_files(files: Files, config: Any) -> Files:
    pages = {
        "cli.md": cli_reference(),
        "python.md": python_reference(),
        "tools.md": tools_reference(),
        "protocol.md": protocol(),
    }
    for name, text in pages.items():
        files.append(File.generated(config, f"reference/{name}", content=text))
    for image in (ROOT / ".github" / "images").iterdir():
        files.append(File.generated(config, f"images/{image.name}", abs_src_path=str(image)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrites links that leave the folder: to copied pictures, and to the plain names of other files."""
    folder = posixpath.dirname(page.file.src_uri)

    def linked(match: re.Match[str]) -> str:
        is_picture, text, target, _anchor = match.groups()
        if "://" in target or not posixpath.normpath(posixpath.join(folder, target)).startswith("../"):
            return match[0]
        if not is_picture:
            return text
        return f"![{text}]({posixpath.relpath(f'images/{posixpath.basename(target)}', folder or '.')})"

    return _LINK.sub(linked, markdown)


def on_post_build(config: Any) -> None:
    """Writes llms.txt (llmstxt.org): what the project is and one line for each guide, taken from docs/index.md."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\) \| (.+) \|$", index, re.MULTILINE)
    guides = "\n".join(f"- [{title}]({link.removesuffix('.md')}/): {says}" for title, link, says in rows)
    text = f"# {config['site_name']}\n\n> {config['site_description']}\n\n## Guides\n\n{guides}\n"
    (Path(config["site_dir"]) / "llms.txt").write_text(text, encoding="utf-8")


def python_reference() -> str:
    return "# Python\n\n" + "\n\n".join(f"::: {name}" for name in PYTHON) + "\n"


def cli_reference() -> str:
    """Every command with its options, as `--help` prints them."""
    from bridge.surfaces.cli.app import webview_bridge

    parts = ["# Command options\n"]

    def add(command: click.Command, words: tuple[str, ...]) -> None:
        context = click.Context(command, info_name=" ".join(words), max_content_width=100, terminal_width=100)
        if len(words) > 1:
            parts.append(f"## {' '.join(words[1:])}\n\n```text\n{command.get_help(context)}\n```\n")
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                if found is not None and not found.hidden:
                    add(found, (*words, name))

    add(webview_bridge, ("webview-bridge",))
    return "\n".join(parts)


def tools_reference() -> str:
    from bridge.model_tools.tables import tables

    return f"# Tools for models\n\n{tables()}\n"


def protocol() -> str:
    return (ROOT / "android_host_app" / "PROTOCOL.md").read_text(encoding="utf-8")
