"""`retried`: what a retry has hidden, from the JUnit files of a run and of what was run again."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.errors import UsageError
from bridge.surfaces.cli.options import FILE, CommonOptions, common_options
from bridge.surfaces.cli.output import one_line, print_json


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="JUNIT…", type=FILE)
@common_options
def retried(options: CommonOptions, files: tuple[Path, ...]) -> None:
    """Say which tests passed only on retry, and which never: JUNIT files of a run, then of each retry of what failed.

    Prints Markdown, for $GITHUB_STEP_SUMMARY. Ends with 1 when a test never passed.

    With --json: tests, passed_on_retry: [name], failed: [name].
    """
    outcomes: dict[str, list[bool]] = {}
    for number, file in enumerate(files):
        for name, is_passed in _outcomes(file).items():
            if number == 0 or name in outcomes:
                outcomes.setdefault(name, []).append(is_passed)
    failed = [name for name, tries in outcomes.items() if not tries[-1]]
    flaky = [name for name, tries in outcomes.items() if tries[-1] and not all(tries)]
    if options.as_json:
        print_json("retried", {"tests": len(outcomes), "passed_on_retry": flaky, "failed": failed})
    else:
        click.echo(f"{len(outcomes)} tests: {len(flaky)} passed only on retry, {len(failed)} failed")
        for title, names in (("Failed", failed), ("Passed only on retry", flaky)):
            if names:
                click.echo(f"\n### {title}\n")
                click.echo("\n".join(f"- `{one_line(name)}`" for name in names))
    if failed:
        raise click.exceptions.Exit(1)


def _outcomes(file: Path) -> dict[str, bool]:
    """Test -> whether it passed, or was skipped; a test with several entries (its teardown) passed when all did."""
    from xml.etree import ElementTree

    try:
        cases = list(ElementTree.parse(file).iter("testcase"))  # noqa: S314 - the test run's own file
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except ElementTree.ParseError as error:
        raise UsageError(f"{file} is no JUnit file: {error}.") from error
    found: dict[str, bool] = {}
    for case in cases:
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        is_passed = case.find("failure") is None and case.find("error") is None
        found[name] = found.get(name, True) and is_passed
    return found


COMMANDS = (retried,)
