"""What somebody writes as an address."""

from __future__ import annotations

import pytest

from bridge.errors import UsageError
from bridge.page.navigation.url import checked_url


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("example.com", "https://example.com"),
        ("example.com/login?next=https://a.example/", "https://example.com/login?next=https://a.example/"),
        ("example.com#://", "https://example.com#://"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        (" http://a.example/ ", "http://a.example/"),
        ("HTTP://a.example/", "HTTP://a.example/"),
        ("about:blank", "about:blank"),
        ("JavaScript:alert(1)", "JavaScript:alert(1)"),
        ("chrome://version", "chrome://version"),
    ],
)
def test_address_without_scheme_gets_https(written: str, meant: str) -> None:
    assert checked_url(written) == meant


@pytest.mark.parametrize("written", [None, 5, b"http://a.example/", "", "http://", "a\nb"])
def test_invalid_address_is_a_usage_error(written: object) -> None:
    with pytest.raises(UsageError):
        checked_url(written)  # type: ignore[arg-type]
