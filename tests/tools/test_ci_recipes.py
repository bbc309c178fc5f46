"""The jobs to copy: every command in them is one that there is, and the first of them is carried out here."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from bridge.surfaces.cli.app import run, webview_bridge
from tests.pytest_plugin.conftest import Project, installed_wheel, project, sample_project

__all__ = ["installed_wheel", "project", "sample_project"]

RECIPES = sorted((Path(__file__).parents[2] / "tools" / "ci").glob("*.yml"))
OURS = ("webview-bridge", "wvb", "pytest")
FLAKY = """
from pathlib import Path

def test_flaky():
    first = Path(__file__).with_name("first")
    if not first.exists():
        first.touch()
        raise AssertionError("only the first time")
"""


@dataclass(frozen=True)
class Step:
    """One shell step with the values of one entry of the matrix in it."""

    recipe: str
    name: str
    script: str
    environment: dict[str, str]


def steps(recipe: Path) -> Iterator[Step]:
    (job,) = yaml.safe_load(recipe.read_text(encoding="utf-8"))["jobs"].values()
    matrix = job["strategy"]["matrix"]
    entry = {key: values[0] for key, values in matrix.items() if key != "include"}
    filled = re.compile(r"\$\{\{ *matrix\.([\w-]+) *\}\}")

    def with_matrix(text: Any) -> str:
        return filled.sub(lambda match: str(entry[match[1]]), str(text))

    environment = {key: with_matrix(value) for key, value in job.get("env", {}).items()}
    for step in job["steps"]:
        assert set(step) <= {"name", "id", "uses", "with", "run", "if", "env", "continue-on-error"}, step
        if "run" in step:
            yield Step(recipe.name, step["name"], with_matrix(step["run"]), environment)


STEPS = [pytest.param(step, id=f"{step.recipe}: {step.name}") for recipe in RECIPES for step in steps(recipe)]


def commands(step: Step) -> list[list[str]]:
    """Our commands of the step, as words."""
    text = step.script.replace("\\\n", " ")
    for name, value in step.environment.items():
        text = text.replace(f'"${name}"', shlex.quote(value))
    simple = [part.strip() for line in text.splitlines() for part in re.split(r"\|\||&&|\|", line)]
    return [shlex.split(re.sub(r">+ *\S+", "", part)) for part in simple if part.split(" ")[0] in OURS]


@pytest.mark.parametrize("step", STEPS)
def test_every_script_is_bash_without_expressions_that_are_not_there(step: Step) -> None:
    done = subprocess.run(["bash", "-n", "-c", step.script], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    assert "${{" not in step.script


# engines.yml runs this repository's own suite; the others run a user's.
@pytest.mark.parametrize("recipe", [path for path in RECIPES if path.name != "engines.yml"], ids=lambda path: path.name)
def test_a_recipe_tests_what_it_has_set_up_and_keeps_what_is_left(recipe: Path) -> None:
    (job,) = yaml.safe_load(recipe.read_text(encoding="utf-8"))["jobs"].values()
    used = [words[:2] for step in steps(recipe) for words in commands(step)]
    assert ["webview-bridge", "doctor"] in used
    assert sum(words[0] == "pytest" for words in used) == 2
    assert ["webview-bridge", "retried"] in used
    upload = job["steps"][-1]
    assert upload["if"] == "always()"
    assert {"webview-artifacts/", "junit-*.xml"} <= set(upload["with"]["path"].split())
    shards = [(str(entry).split("/")) for entry in job["strategy"]["matrix"]["shard"]]
    assert all(1 <= int(part) <= int(count) for part, count in shards)


@pytest.mark.parametrize("step", [step for step in STEPS if commands(step.values[0])])  # type: ignore[arg-type]
def test_every_command_is_one_that_there_is(step: Step, tmp_path: Path) -> None:
    (tmp_path / "junit-1.xml").write_text("<testsuites/>")
    for words in commands(step):
        if words[0] == "pytest":
            config = ["-c", os.devnull, "--rootdir", str(tmp_path), "--collect-only", "-q", str(tmp_path)]
            done = subprocess.run(
                [sys.executable, "-m", *words, "-p", "bridge.surfaces.pytest_plugin", *config],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(Path.cwd()), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
                | ({} if "-n" not in words else {"PYTEST_PLUGINS": "xdist.plugin"}),
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr
        else:
            check_parses(webview_bridge, words[0], words[1:])


def check_parses(command: click.Command, name: str, arguments: list[str], parent: click.Context | None = None) -> None:
    """Raises click.UsageError where the command line does not know what is asked of it; runs nothing."""
    context = command.make_context(name, list(arguments), parent=parent)
    if isinstance(command, click.Group):
        # Until click 9 the subcommand's name is kept apart; to ask for it by its public name is deprecated since 8.2.
        own = vars(context)
        rest = [*(own.get("_protected_args") or own.get("protected_args") or ()), *context.args]
        below_name, below, below_arguments = command.resolve_command(context, rest)
        assert below is not None
        check_parses(below, below_name or "", below_arguments, context)


def test_the_check_of_commands_finds_what_is_wrong() -> None:
    check_parses(webview_bridge, "webview-bridge", ["host", "install", "--device", "x"])
    for wrong in (["nothing"], ["doctor", "--nothing"], ["host", "instal"], ["retried"]):
        with pytest.raises(click.UsageError):
            check_parses(webview_bridge, "webview-bridge", wrong)


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_steps_for_virtual_devices_tell_failures_and_what_passed_only_on_retry(
    sample_project: Project, tmp_path: Path
) -> None:
    sample_project.write("test_flaky.py", FLAKY)
    programs = tmp_path / "bin"
    programs.mkdir()
    for program, code in (("webview-bridge", "from bridge.surfaces.cli import main; main()"), ("pytest", "")):
        start = f"-c '{code}'" if code else "-m pytest"
        (programs / program).write_text(f'#!/bin/sh\nexec {sys.executable} {start} "$@"\n')
        (programs / program).chmod(stat.S_IRWXU)
    summary = tmp_path / "summary.md"
    ended = {}
    (recipe,) = [path for path in RECIPES if path.name == "virtual-device.yml"]
    for step in steps(recipe):
        if step.name in ("Install", "Check the machine"):
            continue
        done = subprocess.run(
            ["bash", "-e", "-c", step.script.replace("1/2", "1/1")],
            cwd=sample_project.folder,
            env={
                **{key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
                "PATH": f"{programs}:{os.environ['PATH']}",
                "PYTHONPATH": str(sample_project.installed),
                "ANDROID_ADB_SERVER_PORT": str(sample_project.adb_port),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_OUTPUT": str(tmp_path / "output"),
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        ended[step.name] = done.returncode
    assert ended == {"Test": 1, "Test again what has failed": 1, "Report": 1, "Name the artefacts": 0}, done.stdout
    text = summary.read_text()
    assert "1 passed only on retry, 2 failed" in text
    assert "### Passed only on retry\n\n- `test_flaky::test_flaky`" in text
    assert "test_plain_failure" in text.partition("### Passed only on retry")[0]
    assert list((sample_project.folder / "webview-artifacts").glob("*/trace.html"))
    assert (tmp_path / "output").read_text() == "name=webview-virtual-1-1\n"


def junit(path: Path, **outcomes: str) -> str:
    inner = {"failed": "<failure/>", "error": "<error/>", "skipped": "<skipped/>", "passed": ""}
    cases = "".join(f"<testcase classname='m' name='{name}'>{inner[how]}</testcase>" for name, how in outcomes.items())
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return str(path)


def test_a_test_that_was_never_run_again_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = junit(tmp_path / "1.xml", good="passed", left="skipped", flaky="failed", torn="error", lost="failed")
    second = junit(tmp_path / "2.xml", flaky="passed", torn="passed", other="failed")
    assert run(["retried", first, second, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["tests"], report["passed_on_retry"], report["failed"]) == (5, ["m::flaky", "m::torn"], ["m::lost"])
    assert run(["retried", junit(tmp_path / "3.xml", good="passed")]) == 0
    assert capsys.readouterr().out == "1 tests: 0 passed only on retry, 0 failed\n"


def test_a_file_that_is_not_junit_is_bad_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.xml").write_text("<testsuite>")
    for file in ("broken.xml", "missing.xml"):
        assert run(["retried", str(tmp_path / file)]) == 2
        assert file in capsys.readouterr().err


def test_the_parts_of_a_suite_are_all_of_it_and_nothing_twice(project: Project) -> None:
    project.write("test_many.py", "".join(f"def test_{number}(): pass\n" for number in range(40)))
    parts = [set(re.findall(r"test_\d+", run_part(project, f"{part}/3"))) for part in (1, 2, 3)]
    assert all(parts)
    assert sum(map(len, parts)) == len(set.union(*parts)) == 40
    assert "is not a valid part such as 1/3" in run_part(project, "4/3")


def run_part(project: Project, part: str) -> str:
    return project.run("--collect-only", "-q", f"--webview-shard={part}").output
