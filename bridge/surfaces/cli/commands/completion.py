"""`completion`: shell completion of commands and options."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("webview-bridge", "wvb")
_VARIABLE = "_WEBVIEW_BRIDGE_COMPLETE"


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL (bash, zsh, fish).

    \b
    bash   eval "$(webview-bridge completion bash)"        in ~/.bashrc
    zsh    eval "$(webview-bridge completion zsh)"         in ~/.zshrc, after compinit
    fish   webview-bridge completion fish | source         in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    for program in PROGRAMS:
        click.echo(kind(context.find_root().command, {}, program, _VARIABLE).source())


COMMANDS = (completion,)
