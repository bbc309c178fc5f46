"""Commands that give tools to models: the MCP server, and the schemas for calling functions."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bridge.surfaces.cli.options import (
    DEVICE_OPTIONS,
    FILE,
    WORDS,
    CommonOptions,
    WholeNumber,
    common_options,
    folder_options,
)
from bridge.surfaces.cli.output import print_json

SETS = ("web", "simple", "ops")
FORMATS = ("openai-responses", "openai-chat", "anthropic", "gemini", "mcp")
DEFAULT_PORT = 9331

_tools = click.option(
    "--set", "tools", type=click.Choice(SETS), default="web", show_default=True, help="Which tools there are."
)
_javascript = click.option(
    "--allow-javascript", is_flag=True, help="With --set simple: let the model run JavaScript in the pages it opens."
)


@click.command()
@_tools
@click.option(
    "--http", is_flag=True, help="Serve streamable HTTP on the loopback, at /mcp, instead of stdin and stdout."
)
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    metavar="PORT",
    help=f"With --http: which port; 0 takes a free one. [default: {DEFAULT_PORT}]",
)
@folder_options
@click.option(
    "--trace",
    type=FILE,
    metavar="FILE",
    help="When the session ends, write what was done in it there, as HTML; meanwhile it is the resource webview://trace.",
)
@click.option(
    "--secrets-env",
    multiple=True,
    metavar="NAME[@ORIGIN]",
    help="The value of this variable may be filled in as secret:NAME, and is never shown; with @https://shop.example "
    "only there. May be repeated.",
)
@_javascript
@click.option(
    "--adb-server", type=WORDS, metavar="HOST:PORT", help="Which adb server (default: as adb itself finds it)."
)
@click.option("-v", "--verbose", is_flag=True, help="Log to stderr.")
def mcp(
    tools: str,
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
    """Serve the tools for models over the Model Context Protocol, until the client leaves.

    Nothing may be opened until the policy allows it: [browser.policy] in the configuration file, BRIDGE_POLICY_… in the
    environment, or --local for a port of this machine. The device is opened by the first call that needs it.

    With --http every request needs `Authorization: Bearer TOKEN`. The token is printed on stderr at the start, a new
    one each time; one that BRIDGE_MCP_TOKEN holds is taken instead, and not printed.
    """
    from bridge.surfaces.mcp_server.lifecycle import run_server
    from bridge.surfaces.mcp_server.operator_options import ServerOptions
    from bridge.surfaces.session_command import StartOptions

    if port is not None and not http:
        raise click.UsageError("--port goes with --http")
    options = ServerOptions(
        start=StartOptions(device, adb_server, local_ports),
        tools=tools,  # type: ignore[arg-type]  # one of SETS: click has checked it
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
@click.option("--format", "dialect", type=click.Choice(FORMATS), required=True, help="For which way of calling.")
@_tools
@_javascript
@common_options
def schema(options: CommonOptions, dialect: str, tools: str, allow_javascript: bool) -> None:
    """Print the tools as JSON, as the API of a model wants them in its `tools`.

    Answer a model's call by `bridge.model_tools.Toolbox.call(name, arguments, …)`. With --json: tools.
    """
    from bridge.model_tools.schemas import schema_of
    from bridge.model_tools.sets import tool_set

    found = schema_of(tool_set(tools, allow_javascript=allow_javascript), dialect)
    if options.as_json:
        print_json("schema", {"tools": found})
    else:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))


COMMANDS = (mcp, schema)
