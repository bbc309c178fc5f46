"""Does a wheel hold what git tracks of bridge/, the built APK, and nothing else? Prints what differs, ends with 1."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ("bridge/host/host_app.apk",)


def main(wheel: str) -> int:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "bridge"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    tracked = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    # Built and not tracked; a wheel has them when they have been built.
    tracked |= {name for name in BUILT if (ROOT / name).is_file()}
    for name in sorted(tracked - packed):
        print(f"missing from the wheel: {name}")
    for name in sorted(packed - tracked):
        print(f"in the wheel and not in the repository: {name}")
    return 1 if tracked != packed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
