"""`truncated` of live snapshots: set by every text that was cut, and by nothing else."""

from __future__ import annotations

import pytest

from tests.temp_sites import own_page

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("html", "is_cut"),
    [
        (f"<button>{'b' * 300}</button>", True),
        (f"<input aria-label=x placeholder='{'p' * 300}'>", True),
        (f"<input aria-label=x value='{'v' * 300}'>", True),
        (f"<button aria-description='{'d' * 300}'>b</button>", True),
        (f"<p>{'t ' * 300}</p>", True),
        (f"<iframe srcdoc='<button>{'f' * 300}</button>'></iframe>", True),
        (f"<button>{'b' * 200}</button><input aria-label=x value='{'v' * 150}'><button>More…</button>", False),
        ("<h1>Short</h1><a href=/>and whole</a>", False),
    ],
    ids=["name", "placeholder", "value", "description", "text", "in a frame", "at the limit", "short"],
)
async def test_a_text_that_was_cut_sets_truncated_and_says_where(webview_device: str, html: str, is_cut: bool) -> None:
    async with own_page(webview_device, f"<!doctype html><title>Page</title>{html}") as page:
        shot = await page.snapshot(interactive_only=False)
        assert shot.stats.truncated is is_cut
        assert ("maxTextPerNode" in shot.text.splitlines()[0]) is is_cut
        assert f"truncated={str(is_cut).lower()}" in shot.text.splitlines()[0]
