"""The agent loops of docs/examples, run as scripts: a server on loopback takes the place of the vendor's API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bridge.surfaces.demo.server import serve_demo_pages
from tests.docs.test_readmes import ROOT

Json = dict[str, Any]


@contextmanager
def model_api(respond: Callable[[Json], Json]) -> Iterator[tuple[str, list[Json]]]:
    """Its address, and the requests it gets."""
    requests: list[Json] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, **request})
            body = json.dumps(respond(request)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", requests
        finally:
            server.shutdown()


def run_example(name: str, port: int, folder: Path, **variables: str) -> str:
    """Returns what the script prints. The model may open `port` only; `webview-bridge` is this repository's."""
    program = folder / "webview-bridge"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from bridge.surfaces.cli import main\nsys.exit(main())\n"
    )
    program.chmod(0o700)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BRIDGE_")}
    environment |= {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **variables}
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "docs/examples" / name, "Look at the shop."),
            *("--device", "virtual", "--local", str(port)),
        ],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_anthropic_loop_opens_a_page_and_returns_the_last_text(tmp_path: Path, adb_port: int) -> None:
    with serve_demo_pages() as shop:

        def respond(request: Json) -> Json:
            last = request["messages"][-1]["content"]
            if isinstance(last, str):
                call = {"type": "tool_use", "id": "c1", "name": "web_open", "input": {"url": shop.url("shop.html")}}
                return {"content": [{"type": "text", "text": "Opening."}, call]}
            assert (last[0]["type"], last[0]["tool_use_id"]) == ("tool_result", "c1")
            found = "Search the shop" in last[0]["content"]
            return {"content": [{"type": "text", "text": f"The shop {'has' if found else 'lacks'} a search field."}]}

        with model_api(respond) as (api, requests):
            output = run_example(
                "agent_anthropic.py",
                shop.port,
                tmp_path,
                ANTHROPIC_API_KEY="none",
                ANTHROPIC_BASE_URL=api,
            )
    assert output.strip() == "The shop has a search field."
    assert [request["path"] for request in requests] == ["/v1/messages"] * 2
    assert "web_open" in {tool["name"] for tool in requests[0]["tools"]}


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_openai_loop_opens_a_page_and_returns_the_last_text(tmp_path: Path, adb_port: int) -> None:
    with serve_demo_pages() as shop:

        def respond(request: Json) -> Json:
            last = request["messages"][-1]
            if last["role"] == "user":
                function = {"name": "web_open", "arguments": json.dumps({"url": shop.url("shop.html")})}
                call = {"id": "c1", "type": "function", "function": function}
                return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}
            assert (last["role"], last["tool_call_id"]) == ("tool", "c1")
            found = "Search the shop" in last["content"]
            text = f"The shop {'has' if found else 'lacks'} a search field."
            return {"choices": [{"message": {"role": "assistant", "content": text}}]}

        with model_api(respond) as (api, requests):
            output = run_example(
                "agent_openai.py",
                shop.port,
                tmp_path,
                OPENAI_API_KEY="none",
                OPENAI_BASE_URL=f"{api}/v1",
            )
    assert output.strip() == "The shop has a search field."
    assert [request["path"] for request in requests] == ["/v1/chat/completions"] * 2
    assert "web_open" in {tool["function"]["name"] for tool in requests[0]["tools"]}
