"""The path of the user's runtime folder. Every command imports this module, so it imports only `os`."""

from __future__ import annotations

import os


def runtime_place() -> str:
    """`$XDG_RUNTIME_DIR/webview-bridge`, or a folder with the user id in the temporary folder. Does not create it.

    Under `sudo` and in containers, XDG_RUNTIME_DIR may belong to another user or not exist.
    """
    if not hasattr(os, "getuid"):
        import tempfile

        return os.path.join(tempfile.gettempdir(), f"webview-bridge-{os.environ.get('USERNAME', 'user')}")
    runtime = os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent"
    if os.path.isdir(runtime) and os.lstat(runtime).st_uid == os.getuid():
        return os.path.join(runtime, "webview-bridge")
    return os.path.join(_temporary_folder(), f"webview-bridge-{os.getuid()}")


def _temporary_folder() -> str:
    """The same folder as `tempfile.gettempdir()`, without its test of writing a file."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    for folder in (*named, "/tmp", "/var/tmp", "/usr/tmp"):  # noqa: S108 - the folder inside is checked by who uses it
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return os.path.abspath(folder)
    return os.getcwd()
