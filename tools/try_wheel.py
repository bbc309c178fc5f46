"""Installs a wheel as a user does and runs it: `try_wheel.py WHEEL`. Ends with 1 at the first command that fails.

The environment has no Node.js, no JDK, no git and no clone: what the wheel does not bring is missing there.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVELOPERS_TOOLS = ("node", "npm", "npx", "java", "javac", "jar", "keytool", "mvn", "gradle", "git")
COMMAND_TIMEOUT_S = 240


def main(wheel: str) -> int:
    with tempfile.TemporaryDirectory(prefix="wvb-wheel-") as folder:
        home = Path(folder)
        environment = bare_environment(home)
        venv.create(home / "venv", with_pip=True)
        python = str(home / "venv/bin/python")
        requirements = home / "constraints.txt"
        # Without the hashes: pip asks for one of the wheel itself otherwise.
        pinned = (ROOT / "tools/constraints.txt").read_text().splitlines()
        requirements.write_text("\n".join(line.split(" ")[0] for line in pinned if "==" in line) + "\n")
        install = [python, "-m", "pip", "install", "--quiet", "--constraint", str(requirements), wheel]
        bridge = str(home / "venv/bin/webview-bridge")
        steps = (
            (install, dict(os.environ)),  # pip keeps the settings of this user: the package index
            ([bridge, "--version"], environment),
            ([bridge, "demo"], environment),
            ([bridge, "virtual", "start"], environment),
            ([bridge, "host", "install", "--device", "virtual", "--json"], environment),
        )
        output = ""
        try:
            for command, variables in steps:
                done = subprocess.run(
                    command,
                    env=variables,
                    cwd=home,
                    capture_output=True,
                    text=True,
                    stdin=subprocess.DEVNULL,
                    timeout=COMMAND_TIMEOUT_S,
                )
                output = done.stdout
                if done.returncode != 0:
                    print(f"{' '.join(command)} ended with {done.returncode}:\n{output}{done.stderr}", file=sys.stderr)
                    return 1
        finally:
            subprocess.run([bridge, "virtual", "stop"], env=environment, capture_output=True, check=False, timeout=30)
            stop_adb = "import adbutils, subprocess; subprocess.run([adbutils.adb_path(), 'kill-server'])"
            subprocess.run([python, "-c", stop_adb], env=environment, capture_output=True, check=False, timeout=30)
        installed = json.loads(output)
        print(f"host app {installed['version']} on the virtual device: {installed['action']}", file=sys.stderr)
    return 0


def bare_environment(home: Path) -> dict[str, str]:
    """Variables of a user who has Chromium and nothing that developers of this project need.

    Every other program of PATH stays, behind links in one folder.
    """
    # An adb server of its own: one that another user's home started does not know the keys of this one.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        adb_port = listener.getsockname()[1]
    programs = home / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            link = programs / program.name
            if program.name not in DEVELOPERS_TOOLS and os.access(program, os.X_OK) and not link.is_symlink():
                link.symlink_to(program)
    return {
        "PATH": str(programs),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TMPDIR": str(home),
        "ANDROID_ADB_SERVER_PORT": str(adb_port),
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
