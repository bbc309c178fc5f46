"""Writes the tables of bridge/model_tools/README.md from the declarations."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
README = ROOT / "bridge" / "model_tools" / "README.md"


def main() -> None:
    from bridge.model_tools.tables import readme_with_tables

    README.write_text(readme_with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
