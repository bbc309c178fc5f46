"""Words and lines for people, in narrow terminals too."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.surfaces.cli.app import run
from bridge.surfaces.cli.commands.devices.doctor import row_lines
from tests.cli.conftest import Shell, ref_of

SAID = "/opt/venv/lib/python3.11/site-packages/adbutils/binaries/adb, 1.0.41, platform tools 36.0.0-13206524"


@pytest.mark.parametrize("group", ["host", "virtual", "daemon", "trace", "policy"])
def test_the_help_of_a_command_group_is_in_whole_sentences(
    group: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert run([group, "--help"]) == 0
    told = capsys.readouterr().out
    assert "..." not in told.partition("Commands:")[2]
    assert max(map(len, told.splitlines())) <= 50


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["snapshot", "--max-chars", "x"], "'x' is not a valid whole number."),
        (["snapshot", "--max-chars", "5"], "5 is not in the range x>=200."),
        (["record", "--seconds", "x"], "'x' is not a valid number."),
        (["open", "https://a.example/", "--local", "x"], "'x' is not a valid whole number."),
        (["trace", "export", "/no/such/trace"], "cannot read /no/such/trace: No such file or directory."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_about_bad_input_use_plain_words(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Errno" not in told


def test_a_row_of_the_doctor_is_a_column_beside_its_name_or_below_it_where_that_would_be_narrow() -> None:
    texts = (SAID, "-> Install it.", "")
    assert row_lines("pass    ", "adb program", texts, None) == [
        "pass    adb program" + 21 * " " + SAID,
        40 * " " + "-> Install it.",
    ]
    for columns in (100, 160):
        first, *rest = row_lines("pass    ", "adb program", texts, columns)
        assert first.startswith("pass    adb program" + 21 * " " + "/opt")
        assert all(line.startswith(40 * " ") for line in rest)
        assert max(map(len, rest)) < columns
    name, *below = row_lines("pass    ", "adb program", texts, 50)
    assert name == "pass    adb program"
    assert below[0] == 8 * " " + "/opt/venv/lib/python3.11/site-packages/adbutils/binaries/adb,", "a path stays whole"
    assert " ".join(line.strip() for line in below) == f"{SAID} -> Install it."
    assert max(map(len, below[1:])) < 50


def test_a_trace_path_that_is_a_folder_is_refused_without_an_errno(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", "export", str(tmp_path)]) == 2
    assert "Is a directory." in capsys.readouterr().err


@pytest.mark.browser
def test_an_action_prints_its_arguments_and_its_outcome_once(shell: Shell) -> None:
    shell.open()
    text = shell.json("snapshot")["text"]
    metal, stock = ref_of(text, 'combobox "Metal'), ref_of(text, 'checkbox "Only')
    for arguments, said in (
        (("select", metal, "Gold"), f"select {metal} combobox \"Metal\" = 'Gold'"),
        (("check", stock), f'check {stock} checkbox "Only what is in stock" = checked'),
        (("press", "Tab"), "press Tab"),
        (("scroll", "down", "--amount", "40"), "scroll down 40"),
    ):
        code, out, err = shell.run(*arguments)
        assert code == 0, err
        assert out.splitlines()[0] == said
