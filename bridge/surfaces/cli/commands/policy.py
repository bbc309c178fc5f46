"""`policy check` and `gate`: the operator's policy by itself, without a device."""

from __future__ import annotations

import click

from bridge.errors import PolicyRefused
from bridge.surfaces.cli.groups import Commands
from bridge.surfaces.cli.options import CommonOptions, WholeNumber, common_options, local_option, origin_flags
from bridge.surfaces.cli.output import note, one_line, print_json

_RESOLVE_S = 10.0


def policy_flags(command: click.decorators.FC) -> click.decorators.FC:
    """The flags of a policy, and `--local`."""
    return origin_flags(local_option("Allow this machine's loopback on this port. May be repeated.")(command))


@click.group(cls=Commands)
def policy() -> None:
    """Which addresses may be opened: [browser.policy] of the configuration file, BRIDGE_POLICY_…, flags."""


@policy.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--explain", is_flag=True, help="Also look the host up and judge its addresses; print the rule.")
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
    """Say of each URL whether it may be opened, without opening it. Ends with 4 when one may not.

    With --json: decisions: [{url, action, rule, reason, hint, host, port, addresses?}], policy; ok is false and
    there is an exit_code where one may not.
    """
    import os

    from bridge.errors import BridgeError
    from bridge.ops.effects import configured_actions
    from bridge.policy import decide
    from bridge.policy.pinning import PinnedEgress
    from bridge.surfaces.cli.runner import CommandProgress, flagged_policy, run_async
    from bridge.surfaces.session_command import StartOptions

    configured_actions(os.environ)  # whoever checks the file wants to know of a mistake in its other table too
    rules = flagged_policy("model" if asker == "model" else "operator", allow, deny, default_action)
    grants = StartOptions(local_ports=local_ports).grants()
    steps = CommandProgress(options.timeout_s)

    async def work() -> list[dict[str, object]]:
        egress, rows = PinnedEgress(rules, grants), []
        for url in urls:
            decision = decide(rules, url, grants)
            row: dict[str, object] = {**decision.to_json(), "url": url, "canonical": decision.url}
            if explain and decision.allowed and decision.host is not None and decision.port is not None:
                try:
                    timeout_s = steps.begin(f"resolving {decision.host}", _RESOLVE_S)
                    row["addresses"] = await egress.addresses(decision.host, decision.port, timeout_s=timeout_s)
                except PolicyRefused as error:
                    row |= {"action": "deny", "rule": error.details.get("rule", ""), "reason": error.message}
                except BridgeError as error:
                    row["addresses"] = ()
                    row["unresolved"] = error.message
            rows.append(row)
        return rows

    rows = run_async("policy check", options, steps, work())
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
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default="any free one")
@click.option("--audit", is_flag=True, help="Print a line of JSON for every connection and refusal.")
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
    """Run the egress gate alone: an HTTP proxy on 127.0.0.1 that connects only where the policy lets it.

    For any HTTP client: curl -x http://127.0.0.1:PORT …, HTTPS_PROXY=…. Runs until it is interrupted. With --json the
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
    steps = CommandProgress(options.timeout_s)

    def tell(record: ConnectionRecord) -> None:
        click.echo(json.dumps(record.to_json()))

    async def work() -> None:
        egress = PinnedEgress(rules, StartOptions(local_ports=local_ports).grants(), on_record=tell if audit else None)
        try:
            async with run_gate(egress, port=port) as running:
                if options.as_json:
                    print_json("gate", {"url": running.url, "port": running.port, "policy": rules.to_json()})
                else:
                    click.echo(running.url)
                    note(f"the gate runs until it is interrupted: curl -x {running.url} https://example.com/")
                steps.begin(f"serving at {running.url}", math.inf)
                await asyncio.get_running_loop().create_future()
        except OSError as error:
            raise UsageError(f"the gate cannot listen on port {port}: {error.strerror}") from error

    run_async("gate", options, steps, work())


def _line(row: dict[str, object], *, explain: bool) -> str:
    verdict = {"allow": "allowed", "deny": "refused", "ask": "asks"}[str(row["action"])]
    text = f"{verdict:8}{row['url'] or repr('')}"
    if row["reason"]:
        text += f": {row['reason']}."
    if row["action"] != "allow" and row["hint"]:
        text += f" {row['hint']}"
    if explain:
        text += f" [{row['rule']}; {row['canonical'] or 'no URL'}]"
        if row.get("addresses"):
            text += " -> " + ", ".join(str(address) for address in row["addresses"])  # type: ignore[attr-defined]
        if row.get("unresolved"):
            text += f" -> {row['unresolved']}"
    return text


COMMANDS = (policy, gate)
