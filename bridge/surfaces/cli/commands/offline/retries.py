"""`retried`: finds tests that passed only on retry, from JUnit files."""

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
    """List tests that passed only on retry, and tests that never passed.

    JUNIT are the files of a run and then of each retry of its failures. Prints Markdown for $GITHUB_STEP_SUMMARY. Exits
    with 1 if a test never passed.

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
    """Maps each test to True if it passed or was skipped.

    A test with several entries (teardown) passed if all of them did.
    """
    from xml.etree import ElementTree

    try:
        cases = list(ElementTree.parse(file).iter("testcase"))  # noqa: S314 - the test run's own file
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}.") from error
    except ElementTree.ParseError as error:
        raise UsageError(f"{file} is not a JUnit file: {error}.") from error
    found: dict[str, bool] = {}
    for case in cases:
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        is_passed = case.find("failure") is None and case.find("error") is None
        found[name] = found.get(name, True) and is_passed
    return found


COMMANDS = (retried,)
