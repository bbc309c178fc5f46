"""No output gives what a person cannot see, except for the limits that docs/hidden-text.md lists with their reasons.

`UPDATE_GOLDEN=1 pytest tests/hidden_text` writes the tables of docs/hidden-text.md.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bridge.model_tools import ClientContext
from bridge.surfaces.local_server import LocalServer, QuietHandler, listening
from tests.hidden_text.limits import LIMITS
from tests.hidden_text.outputs import NAMES, outputs
from tests.hidden_text.tricks import SEEN, TRICKS, found_in, of_group, page_of
from tests.model_tools.temp_clients import temp_client

DOCS = Path(__file__).parents[2] / "docs" / "hidden-text.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"
HIDDEN, SHOWN = "hiddenword", "shownword"
READERS = ("read", "extract", "fetch")
ALL_TRICKS = [trick for group in TRICKS for trick in of_group(group)]
EXPECTED = {name: {trick for limit in LIMITS if name in limit.shown_by for trick in limit.tricks} for name in NAMES}


class _Tricks(QuietHandler):
    """Serves the tricks of a group under its number."""

    def do_GET(self) -> None:
        number = self.path.strip("/")
        if number == "seen":
            self.respond(page_of(SEEN, SHOWN).encode(), "text/html; charset=utf-8")
        elif number.isdecimal():
            self.respond(page_of(of_group(list(TRICKS)[int(number)]), HIDDEN).encode(), "text/html; charset=utf-8")
        else:
            self.respond(b"", status=404)


@pytest.fixture
def site() -> Iterator[LocalServer]:
    with listening(_Tricks) as server:
        yield server


@pytest.fixture
async def client(webview_device: str, site: LocalServer, tmp_path: Path) -> AsyncIterator[ClientContext]:
    async with temp_client(webview_device, [site.grant], tmp_path) as client:
        yield client


@pytest.mark.browser
@pytest.mark.timeout(600)
async def test_no_output_gives_text_that_a_person_cannot_see(client: ClientContext, site: LocalServer) -> None:
    shown: dict[str, set[str]] = {name: set() for name in NAMES}
    for number, group in enumerate(TRICKS):
        for name, text in (await outputs(client, site.url(str(number)), HIDDEN)).items():
            shown[name] |= found_in(text, of_group(group), HIDDEN)
    assert shown == EXPECTED


@pytest.mark.browser
@pytest.mark.timeout(600)
async def test_every_output_gives_text_that_only_looks_hidden(client: ClientContext, site: LocalServer) -> None:
    texts = await outputs(client, site.url("seen"), SHOWN)
    missing = {name: set(SEEN) - found_in(text, SEEN, SHOWN) for name, text in texts.items()}
    assert missing == {name: set(SEEN) if name == "controls" else set() for name in NAMES}


def test_the_readers_agree_but_for_what_only_a_browser_knows() -> None:
    """`web_read` and `browser` hide the same; `webfetch` hides nothing that they show."""
    assert EXPECTED["read"] == EXPECTED["extract"] <= EXPECTED["fetch"]
    only_fetch = EXPECTED["fetch"] - EXPECTED["read"]
    reasons = [limit.why for limit in LIMITS if only_fetch & set(limit.tricks)]
    assert [why for why in reasons if "`webfetch`" not in why] == []


def test_each_limit_is_a_trick_and_has_one_reason() -> None:
    limited = [trick for limit in LIMITS for trick in limit.tricks]
    assert len(limited) == len(set(limited))
    assert set(limited) <= set(ALL_TRICKS)
    assert len(ALL_TRICKS) >= 150


def test_the_page_has_the_table() -> None:
    table = "\n".join(_rows()) + "\n"
    before, _, rest = DOCS.read_text(encoding="utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    if os.environ.get("UPDATE_GOLDEN"):
        DOCS.write_text(f"{before}{BEGIN}{table}{END}{after}", encoding="utf-8")
    else:
        assert old == table


def _rows() -> Iterator[str]:
    """Per group of tricks how many of them each output hides, then the limits."""
    yield f"| how text is hidden | tricks | {' | '.join(NAMES)} |"
    yield f"|---|---|{'---|' * len(NAMES)}"
    for group, tricks in TRICKS.items():
        missed = [len(EXPECTED[name] & set(of_group(group))) for name in NAMES]
        cells = ["all" if not count else f"{len(tricks) - count} of {len(tricks)}" for count in missed]
        yield f"| {group} | {' · '.join(tricks)} | {' | '.join(cells)} |"
    yield ""
    yield "What is shown all the same, and why:"
    yield ""
    yield "| tricks | shown by | why |"
    yield "|---|---|---|"
    for limit in LIMITS:
        yield f"| {' · '.join(limit.tricks)} | {', '.join(limit.shown_by)} | {limit.why} |"
    yield ""
    yield "The three readers, `web_read`, `browser` and `webfetch`, agree on the tricks of the first two columns:"
    yield ""
    yield "| how text is hidden | all hide | all show | only `webfetch` shows |"
    yield "|---|---|---|---|"
    totals = [0, 0, 0]
    for group in TRICKS:
        counts = _agreement(set(of_group(group)))
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        yield f"| {group} | {' | '.join(map(str, counts))} |"
    yield f"| together | {' | '.join(map(str, totals))} |"


def _agreement(tricks: set[str]) -> tuple[int, int, int]:
    """How many of the tricks all readers hide, all show, and only `webfetch` shows."""
    shown = [EXPECTED[name] & tricks for name in READERS]
    all_show = set.intersection(*shown)
    return len(tricks - set.union(*shown)), len(all_show), len(shown[2] - all_show)
