"""Compares roles and names with Chromium's accessibility tree, live: of saved pages, and of generated documents.

`python tests/snapshot/compare_with_chromium.py FOLDER [--documents 300]`: FOLDER holds `*.html` or `*.html.gz`.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from browser import ACCNAME, chromium, open_page, serve
from chromium_names import DECLARED, Documents, count_differences


def documents(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    for file in sorted(folder.glob("*.html*")):
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        yield file.name, content.decode("utf-8", "replace")
    for seed in range(count):
        yield f"document {seed}", Documents(seed).document()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=300)
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    with chromium() as address, serve(ACCNAME) as origin, open_page(address, origin) as page:
        page.cdp("Accessibility.enable")
        for name, html in documents(options.folder, options.documents):
            of_document, undeclared = count_differences(page, html)
            kinds += of_document
            for ours, theirs in undeclared:
                print(f"{name}: {ours} and in Chromium {theirs.role} {theirs.name!r}")
    alike = kinds.total() - kinds["undeclared"]
    print(f"{kinds.total()} elements, {alike / kinds.total():.4%} equal outside of declared differences:")
    for kind, number in kinds.most_common():
        print(f"{number:8} {kind}: {DECLARED.get(kind, '')}".rstrip(": "))


if __name__ == "__main__":
    main()
