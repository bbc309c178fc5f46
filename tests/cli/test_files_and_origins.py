"""Files that go in and out of a page, and origins, as a person names them on the command line."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.surfaces.cli.app import all_commands, run
from bridge.surfaces.pytest_plugin.local_server import serving
from tests.cli.conftest import LIMIT_S, PROGRAM, Shell, ref_of

FORM = """<!doctype html><title>Files</title><label>Picture <input type=file multiple id=in></label>
<a href="report.csv" download>Report</a><p role=status id=out></p>
<script>document.getElementById('in').onchange = async (e) => { document.getElementById('out').textContent =
  (await Promise.all([...e.target.files].map(async (f) => f.name + '=' + await f.text()))).join(); }</script>"""


@pytest.mark.browser
def test_files_go_in_and_out_of_a_kept_session_below_its_folders(shell: Shell, tmp_path: Path) -> None:
    site, up, down = (tmp_path / name for name in ("site", "up", "down"))
    for folder in (site, up, down):
        folder.mkdir()
    (site / "index.html").write_text(FORM)
    (site / "report.csv").write_text("a;b")
    (up / "one.txt").write_text("1")
    (up / "two.txt").write_text("2")
    (tmp_path / "link").symlink_to(up)
    roots = ("--uploads-root", str(up), "--downloads-root", str(down))
    with serving(site) as server:
        options = ("--device", shell.options[1], "--local", str(server.port))
        shell.json("open", server.url("index.html"), *options, *roots)
        text = shell.json("snapshot")["text"]
        given = shell.json("upload", ref_of(text, "Picture"), str(up / "one.txt"), str(tmp_path / "link" / "two.txt"))
        assert "one.txt=1,two.txt=2" in given["changes"]["text"]
        saved = shell.json("download", ref_of(text, 'link "Report'), str(down / "by-tap.csv"))
        assert (saved["path"], saved["size_bytes"]) == (str(down / "by-tap.csv"), 3)
        shell.json("download", server.url("report.csv"), str(down / "by-url.csv"))
        assert [(down / name).read_text() for name in ("by-tap.csv", "by-url.csv")] == ["a;b", "a;b"]

        code, _, err = shell.run("download", server.url("report.csv"), str(down / "by-url.csv"))
        assert (code, "exists already" in err) == (2, True), err
        shell.json("download", server.url("report.csv"), str(down / "by-url.csv"), "--overwrite")
        for refused in (
            ("upload", ref_of(text, "Picture"), str(site / "report.csv")),
            ("download", server.url("report.csv"), str(tmp_path / "elsewhere.csv")),
            ("download", "http://169.254.169.254/", str(down / "no.csv")),
        ):
            code, _, err = shell.run(*refused)
            assert code == 4, err
        code, _, err = shell.run("snapshot", "--uploads-root", str(tmp_path))
        assert (code, f"uploads root {up}" in err) == (2, True), err
        shell.json("close")
        shell.json("open", server.url("index.html"), *options)
        code, _, err = shell.run("upload", ref_of(shell.json("snapshot")["text"], "Picture"), str(up / "one.txt"))
        assert code == 4
        assert "uploads_root is not set. Open the session with --uploads-root FOLDER" in err


@pytest.mark.browser
def test_origins_that_a_session_was_opened_with_hold_until_it_ends(shell: Shell) -> None:
    code, _, err = shell.run("open", "https://other.example/", *shell.options, "--allow", "*.allowed.example")
    assert code == 4
    assert "policy_refused" in err
    shell.json("open", shell.demo.url("shop.html"), *shell.options, "--allow", "*.allowed.example")
    code, _, err = shell.run("open", "https://other.example/")
    assert code == 4, err
    code, _, err = shell.run("open", shell.demo.url("shop.html"), "--allow", "elsewhere.example")
    assert code == 2
    assert "allowed origins *.allowed.example" in err


def test_allow_narrows_what_a_single_command_may_open(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["snapshot", "--url"], ["fetch"], ["read"], ["click", "e1", "--url"]):
        assert run([*command, "https://other.example/", "--allow", "*.allowed.example"]) == 4
        assert "[browser.policy]" in capsys.readouterr().err
    assert run(["open", "https://other.example/", "--allow", "not an origin"]) == 2


def test_a_folder_that_is_none_is_bad_usage(webview_device: str, capsys: pytest.CaptureFixture[str]) -> None:
    open_ = ["snapshot", "--url", "https://a.example/", "--device", webview_device]
    assert run([*open_, "--downloads-root", "/no/such/folder"]) == 2
    assert "cannot use /no/such/folder" in capsys.readouterr().err


def test_what_this_machine_offers_a_ray_cluster_is_counted(
    webview_device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["devices", "--ray"]) == 0
    # The suite's own device belongs to its run.
    assert json.loads(capsys.readouterr().out) == {"android_device": 0}


@pytest.mark.parametrize("program", ["webview-bridge", "wvb"])
def test_bash_completes_commands_and_options(program: str, tmp_path: Path) -> None:
    command = tmp_path / program
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{PROGRAM[2]}' \"$@\"\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    script = (
        f'eval "$({program} completion bash)"\n'
        f"complete -p {program} >&2\n"
        "for word in scr --ful; do\n"
        f"  COMP_WORDS=({program} screenshot $word); [ $word = scr ] && COMP_WORDS=({program} scr)\n"
        "  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()\n"
        f"  _{program.replace('-', '_')}_completion {program}\n"
        '  echo "${COMPREPLY[@]}"\n'
        "done\n"
    )
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.stdout.splitlines() == ["screenshot scroll scroll-into-view", "--full-page"], done.stderr


def test_every_shell_gets_a_script_for_both_names(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert run(["completion", shell]) == 0
        printed = capsys.readouterr().out
        assert "webview-bridge" in printed
        assert "wvb" in printed
    assert "completion" in all_commands()
