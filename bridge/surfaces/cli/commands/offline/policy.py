"""`policy check` and `gate`: the operator's policy without a device."""

from __future__ import annotations

import click

from bridge.errors import PolicyRefused
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import CommonOptions, WholeNumber, common_options, local_option, origin_flags
from bridge.surfaces.cli.output import note, one_line, print_json

_RESOLVE_S = 10.0


def policy_flags(command: click.decorators.FC) -> click.decorators.FC:
    """The policy flags and `--local`."""
    return origin_flags(local_option("Allow this port of the machine's loopback. Repeatable.")(command))


@click.group(cls=Commands)
def policy() -> None:
    """The policy for addresses: [browser.policy] of the configuration file, BRIDGE_POLICY_…, flags."""


@policy.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--explain", is_flag=True, help="Also resolve the host, check its addresses and print the rule.")
@click.option("--as", "asker", type=click.Choice(["operator", "model"]), default="operator", show_default=True)
@policy_flags
@common_options
def check(
    options: CommonOptions,
    urls: tuple[str, ...],
    explain: bool,
    asker: str,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    default_action: str | None,
    local_ports: tuple[int, ...],
) -> None:
    """Print whether each URL may be opened, without opening it. Exits with 4 if one is refused.

    With --json: decisions: [{url, action, rule, reason, hint, host, port, addresses?}], policy; ok is false with an
    exit_code if one is refused.
    """
    import os

    from bridge.errors import BridgeError
    from bridge.ops.effects import configured_actions
    from bridge.policy import decide
    from bridge.policy.pinning import PinnedEgress
    from bridge.surfaces.cli.runner import CommandProgress, flagged_policy, run_async
    from bridge.surfaces.session_command import StartOptions

    configured_actions(os.environ)  # reports errors in the other table of the file too
    rules = flagged_policy("model" if asker == "model" else "operator", allow, deny, default_action)
    grants = StartOptions(local_ports=local_ports).grants()
    progress = CommandProgress(options.timeout_s)

    async def work() -> list[dict[str, object]]:
        egress, rows = PinnedEgress(rules, grants), []
        for url in urls:
            decision = decide(rules, url, grants)
            row: dict[str, object] = {**decision.to_json(), "url": url, "canonical": decision.url}
            if explain and decision.allowed and decision.host is not None and decision.port is not None:
                try:
                    timeout_s = progress.begin(f"resolving {decision.host}", _RESOLVE_S)
                    row["addresses"] = await egress.addresses(decision.host, decision.port, timeout_s=timeout_s)
                except PolicyRefused as error:
                    row |= {"action": "deny", "rule": error.details.get("rule", ""), "reason": error.message}
                except BridgeError as error:
                    row["addresses"] = ()
                    row["unresolved"] = error.message
            rows.append(row)
        return rows

    rows = run_async("policy check", options, progress, work())
    refused = [row for row in rows if row["action"] != "allow"]
    if options.as_json:
        found = {"decisions": rows, "policy": rules.to_json()}
        print_json("policy check", found, exit_code=PolicyRefused.exit_code if refused else 0)
    else:
        for row in rows:
            click.echo(one_line(_line(row, explain=explain)))
    if refused:
        raise click.exceptions.Exit(PolicyRefused.exit_code)


@click.command()
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default="any free port")
@click.option("--audit", is_flag=True, help="Print a line of JSON for each connection and refusal.")
@policy_flags
@common_options
def gate(
    options: CommonOptions,
    port: int,
    audit: bool,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    default_action: str | None,
    local_ports: tuple[int, ...],
) -> None:
    """Run the egress gate alone: an HTTP proxy on 127.0.0.1 that enforces the policy.

    For any HTTP client: curl -x http://127.0.0.1:PORT …, HTTPS_PROXY=…. Runs until interrupted. With --json the
    first line is {"ok": true, "command": "gate", "url", "port", "policy"}.
    """
    import asyncio
    import json
    import math

    from bridge.errors import UsageError
    from bridge.policy.gate import run_gate
    from bridge.policy.pinning import ConnectionRecord, PinnedEgress
    from bridge.surfaces.cli.runner import CommandProgress, flagged_policy, run_async
    from bridge.surfaces.session_command import StartOptions

    rules = flagged_policy("operator", allow, deny, default_action)
    progress = CommandProgress(options.timeout_s)

    def print_record(record: ConnectionRecord) -> None:
        click.echo(json.dumps(record.to_json()))

    async def work() -> None:
        egress = PinnedEgress(
            rules, StartOptions(local_ports=local_ports).grants(), on_record=print_record if audit else None
        )
        try:
            async with run_gate(egress, port=port) as running:
                if options.as_json:
                    print_json("gate", {"url": running.url, "port": running.port, "policy": rules.to_json()})
                else:
                    click.echo(running.url)
                    note(f"the gate runs until interrupted: curl -x {running.url} https://example.com/")
                progress.begin(f"serving at {running.url}", math.inf)
                await asyncio.get_running_loop().create_future()
        except OSError as error:
            raise UsageError(f"the gate cannot listen on port {port}: {error.strerror}") from error

    run_async("gate", options, progress, work())


def _line(row: dict[str, object], *, explain: bool) -> str:
    verdict = {"allow": "allowed", "deny": "refused", "ask": "asks"}[str(row["action"])]
    text = f"{verdict:8}{row['url'] or repr('')}"
    if row["reason"]:
        text += f": {row['reason']}."
    if row["action"] != "allow" and row["hint"]:
        text += f" {row['hint']}"
    if explain:
        text += f" [{row['rule']}; {row['canonical'] or 'not a valid URL'}]"
        if row.get("addresses"):
            text += " -> " + ", ".join(str(address) for address in row["addresses"])  # type: ignore[attr-defined]
        if row.get("unresolved"):
            text += f" -> {row['unresolved']}"
    return text


COMMANDS = (policy, gate)
