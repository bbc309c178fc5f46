"""Commands that read without a device: fetch, read --html and snapshot --html."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.surfaces.cli.app import run
from bridge.surfaces.demo.server import serve_demo_pages
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening
from tests.temp_sites import own_site

HTML = "<title>Größe</title><h1>Gold</h1><p>words</p><nav><button>Buy</button></nav>"


@pytest.fixture(scope="module")
def demo() -> Iterator[LocalServer]:
    with serve_demo_pages() as server:
        yield server


SHELL = """<!doctype html><title>App</title><div id=root></div><script>
const words = document.createElement("p");
words.textContent = ["Words", "that", "only", "a", "script", "brings", "into", "the", "page."].join(" ");
document.getElementById("root").append(words);
/* %s */</script>""" % ("x" * 200)


class _Shell(QuietHandler):
    def do_GET(self) -> None:
        self.respond(SHELL.encode())


@pytest.fixture(autouse=True)
def no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_fetch_prints_markdown_on_stdout_and_the_rest_on_stderr(
    demo: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fetch", demo.url("login.html"), "--local", str(demo.port), "--mode", "raw"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# ")
    assert "text/html · " in err
    assert "1 round trip" in err


def test_fetch_gives_one_json_object(demo: LocalServer, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "page.md"
    arguments = [
        "fetch",
        demo.url("login.html"),
        "--local",
        str(demo.port),
        "--json",
        "--metadata",
        "--out",
        str(target),
    ]
    assert run(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is True
    assert told["command"] == "fetch"
    assert told["status"] == 200
    assert told["file"] == str(target)
    assert target.read_text() == told["markdown"] + "\n"
    assert told["metadata"] is not None


def test_fetch_of_loopback_without_a_grant_is_refused_and_names_the_option(
    demo: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fetch", demo.url("login.html")]) == 4
    assert f"--local {demo.port}" in capsys.readouterr().err


def test_fetch_obeys_a_configured_policy(
    demo: LocalServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_POLICY_DEFAULT_ACTION", "deny")
    assert run(["fetch", "https://example.com/"]) == 4
    monkeypatch.setenv("BRIDGE_POLICY_DEFAULT_AKTION", "allow")
    assert run(["fetch", "https://example.com/"]) == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["fetch"], 2),
        (["fetch", "file:///etc/passwd"], 4),
        (["fetch", "http://169.254.169.254/latest/meta-data/"], 4),
        (["fetch", "gold"], 4),
        (["fetch", "http://example.com/", "--pages", "0"], 2),
        (["fetch", "http://example.com/", "--selector", "p["], 2),
        (["snapshot", "--html", "/no/such/file"], 2),
        (["snapshot", "--html", "/"], 2),
        (["snapshot", "--html", "/dev/zero"], 2),
        (["read", "http://example.com/", "--url", "http://example.com/"], 2),
        (["snapshot", "--html", sys.executable], 2),
        (["snapshot", "--html", __file__, "--more", "e9999999"], 1),
        (["snapshot", "--html", "-", "--url", "http://example.com/"], 2),
    ],
)
def test_unreadable_input_ends_with_its_exit_code(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == code
    assert told["error"]["message"]


def test_fetching_a_missing_page_reports_the_status(demo: LocalServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fetch", demo.url("nowhere.html"), "--local", str(demo.port), "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "http_failed"
    assert error["message"].startswith("HTTP 404: ")


def test_a_snapshot_of_a_file_needs_no_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "a page.html"
    page.write_bytes(HTML.encode("utf-16"))
    assert run(["snapshot", "--html", str(page)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f'[snapshot] url={page.as_uri()} title="Größe" nodes=2 truncated=false',
        '- heading "Gold" [level=1] [ref=e1]',
        '- text "words"',
        "- navigation:",
        '  - button "Buy" [ref=e2]',
    ]


def test_a_snapshot_of_stdin_takes_the_same_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HTML.encode())))
    target = tmp_path / "shot.txt"
    assert run(["snapshot", "--html", "-", "--scope", "nav", "--json", "--out", str(target)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told["refs"]) == ["e2"]
    assert target.read_text() == told["text"] + "\n"


_ARTICLE = """<title>Tea</title><meta name=description content="About tea."><h1>Tea</h1><p>Tea is <a href=good>good</a>.
<p hidden>Unseen.</p><h2 id=green>Green</h2><p>Fresh.</p><h2>Black</h2><p>Strong.</p>"""


def test_html_is_read_from_a_file_or_stdin(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text(_ARTICLE, encoding="utf-8")
    assert run(["read", "--html", str(page), "--base-url", "https://tea.example/a/"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Tea\n\nTea is [good](https://tea.example/a/good).\n\n## Green\n\nFresh.")
    assert "hidden texts removed: 1" in err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(_ARTICLE.encode())))
    assert run(["read", "--html", "-", "--section", "green", "--metadata"]) == 0
    assert capsys.readouterr().out == "title: Tea\ndescription: About tea.\n\n## Green\n\nFresh.\n"
    for wrong in (["--base-url", "http://["], ["--section", "Oolong"], ["--selector", "p["], ["--max-length", "many"]):
        assert run(["read", "--html", str(page), *wrong]) == 2
    assert run(["read", "--base-url", "https://tea.example/"]) == 2


def test_fetch_gives_a_part_of_a_page_its_outline_or_what_it_says_about_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with own_site({"/": _ARTICLE}) as site:
        for options, shown in (
            (["--section", "Black"], "## Black\n\nStrong.\n"),
            (["--selector", "h2 + p"], "Fresh.\n"),
            (["--outline"], "- Tea\n  - [Green](#green)\n  - Black\n"),
            (["--section", "green", "--metadata"], "title: Tea\ndescription: About tea.\n\n"),
            (["--max-length", "0"], "# Tea\n"),
        ):
            assert run(["fetch", site.url(), "--local", str(site.port), *options]) == 0
            assert capsys.readouterr().out.startswith(shown)


@pytest.mark.parametrize("url", ["http://[::1", "http://exa mple/", "", "http://a:99999/", "http://"])
def test_a_malformed_url_is_bad_usage(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("fetch", "read", "snapshot", "open"):
        assert run([command, url, "--json"]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] == "bad_usage"


@pytest.mark.browser
def test_an_empty_shell_is_rendered_on_a_device_when_that_is_asked_for(
    webview_device: str, demo: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(_Shell) as server:
        arguments = ["fetch", server.url(), "--local", str(server.port)]
        assert run(arguments) == 0
        out, err = capsys.readouterr()
        assert "Words that only" not in out
        assert "drawn by its scripts" in err
        assert run([*arguments, "--render", "--device", webview_device, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
    assert told["rendered"] is True
    assert "Words that only a script brings" in told["markdown"]
