"""Commands for models: the MCP server, function-calling schemas, and the skill for agents that use a shell."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bridge.surfaces.cli.options import (
    DEVICE_OPTIONS,
    FILE,
    TEXT,
    CommonOptions,
    WholeNumber,
    common_options,
    folder_options,
)
from bridge.surfaces.cli.output import print_json

FORMATS = ("openai-responses", "openai-chat", "anthropic", "gemini", "mcp")
DEFAULT_PORT = 9331

_tools = click.option(
    "--tools",
    "--set",
    "tools",
    type=TEXT,
    multiple=True,
    default=("web",),
    show_default=True,
    metavar="SET|TOOL",
    help="Tool sets (web, extra, simple, ops) or single tools; several separated by commas. Repeatable.",
)
_javascript = click.option(
    "--allow-javascript",
    is_flag=True,
    help="With the tool browser: allow the model to run JavaScript in the pages it opens.",
)


@click.command()
@_tools
@click.option("--http", is_flag=True, help="Serve streamable HTTP on loopback at /mcp instead of stdio.")
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    metavar="PORT",
    help=f"With --http: the port; 0 picks a free one. [default: {DEFAULT_PORT}]",
)
@click.option(
    "--allow",
    "allowed_origins",
    multiple=True,
    metavar="PATTERN",
    help="Allow this origin (example.com, *.example.com), instead of the policy's allowed_origins. Repeatable.",
)
@folder_options
@click.option(
    "--trace",
    type=FILE,
    metavar="FILE",
    help="When the session ends, write a trace of it there, as HTML. Until then the resource webview://trace shows it.",
)
@click.option(
    "--secrets-env",
    multiple=True,
    metavar="NAME[@ORIGIN]",
    help="Environment variable that the model may fill in as secret:NAME and never sees; @https://shop.example binds "
    "it to that origin. Repeatable.",
)
@_javascript
@click.option("--adb-server", type=TEXT, metavar="HOST:PORT", help="The adb server (default: the one that adb uses).")
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr.")
def mcp(
    tools: tuple[str, ...],
    allowed_origins: tuple[str, ...],
    http: bool,
    port: int | None,
    uploads_root: str | None,
    downloads_root: str | None,
    trace: Path | None,
    secrets_env: tuple[str, ...],
    allow_javascript: bool,
    adb_server: str | None,
    verbose: bool,
    device: str,
    local_ports: tuple[int, ...],
) -> None:
    """Serve tools for models over the Model Context Protocol until the client disconnects.

    What no list of the policy names, the person behind the client is asked for, once per origin; a client that cannot
    ask opens nothing. --allow, [browser.policy] in the configuration file (read again at each call) or BRIDGE_POLICY_…
    allow origins, and --local a port of this machine. The first call that needs the device opens it. 'webview-bridge
    view' shows the tabs and lets you take over.

    With --http every request requires `Authorization: Bearer TOKEN`. Each start prints a new token on stderr;
    BRIDGE_MCP_TOKEN sets one instead, which is not printed.
    """
    from bridge.surfaces.daemon.server import serving_tabs
    from bridge.surfaces.mcp_server.lifecycle import run_server
    from bridge.surfaces.mcp_server.operator_options import ServerOptions
    from bridge.surfaces.session_command import StartOptions

    if port is not None and not http:
        raise click.UsageError("--port requires --http")
    options = ServerOptions(
        start=StartOptions(device, adb_server, local_ports, allowed_origins=allowed_origins),
        tools=",".join(tools),
        serve_tabs=serving_tabs,
        allow_javascript=allow_javascript,
        http_port=(DEFAULT_PORT if port is None else port) if http else None,
        secrets_env=secrets_env,
        uploads_root=uploads_root,
        downloads_root=downloads_root,
        trace=trace,
    )
    run_server(options, verbose=verbose)


for _option in DEVICE_OPTIONS:
    mcp = _option(mcp)


@click.command()
@click.option("--format", "dialect", type=click.Choice(FORMATS), required=True, help="The API that the schema is for.")
@_tools
@_javascript
@common_options
def schema(options: CommonOptions, dialect: str, tools: tuple[str, ...], allow_javascript: bool) -> None:
    """Print the tools as JSON for the `tools` field of a model API.

    Run a model's call with `bridge.model_tools.Toolbox.call(name, arguments, …)`. With --json: tools.
    """
    from bridge.model_tools.schemas import schema_of
    from bridge.model_tools.sets import tool_set

    found = schema_of(tool_set(",".join(tools), allow_javascript=allow_javascript), dialect)
    if options.as_json:
        print_json("schema", {"tools": found})
    else:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))


@click.command()
def skill() -> None:
    """Print a skill: how an agent that has a shell uses these commands.

    Save it where your agent looks for skills, such as .claude/skills/webview-bridge/SKILL.md.
    """
    from importlib.resources import files

    click.echo(files("bridge.surfaces.cli").joinpath("skill.md").read_text(encoding="utf-8"), nl=False)


COMMANDS = (mcp, schema, skill)
