"""What somebody writes as an address."""

from __future__ import annotations

import pytest

from bridge.page.navigation import checked_url


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("example.com", "https://example.com"),
        ("example.com/login?next=https://a.example/", "https://example.com/login?next=https://a.example/"),
        ("example.com#://", "https://example.com#://"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        (" http://a.example/ ", "http://a.example/"),
        ("HTTP://a.example/", "HTTP://a.example/"),
        ("about:blank", "about:blank"),
        ("JavaScript:alert(1)", "JavaScript:alert(1)"),
        ("chrome://version", "chrome://version"),
    ],
)
def test_https_is_put_before_what_begins_with_no_scheme(written: str, meant: str) -> None:
    assert checked_url(written) == meant
