from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import UsageError
from bridge.policy import TestServerGrant, policy_for
from bridge.policy import decide as decide_by
from bridge.policy.address import is_loopback, parse_address, parse_host
from bridge.policy.decision import Decision


def decide(url: str, grants: Sequence[TestServerGrant] = ()) -> Decision:
    return decide_by(policy_for("operator"), url, grants)


SPELLINGS_OF_LOOPBACK = [
    "http://localhost/",
    "http://LOCALHOST:3000/",
    "http://localhost./",
    "http://app.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.8.9.10/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.01/",
    "http://0/",
    "http://0.0.0.0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[0:0:0:0:0:0:0:1]:8080/",
    "http:\\\\127.0.0.1\\",
    "http:/127.0.0.1/",
    "http:127.0.0.1",
    "http:////127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "ht\ntp://127.0.0.1/",
    " \x00http://127.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://local%68ost/",
    "http://１２７.０.０.１/",  # noqa: RUF001
    "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
    "http://local\u200bhost/",
    "http://loc\u00adalhost/",
]


@pytest.mark.parametrize("url", SPELLINGS_OF_LOOPBACK)
def test_loopback_is_refused_in_every_spelling(url: str) -> None:
    decision = decide(url)

    assert not decision.allowed
    assert "this machine" in decision.reason


@pytest.mark.parametrize("url", ["https://example.com/", "http://example.com:8080/a?b#c", "https://localhost.example/"])
def test_the_public_web_is_allowed(url: str) -> None:
    assert decide(url).allowed


@pytest.mark.parametrize(
    "scheme",
    ["file", "javascript", "data", "chrome", "content", "view-source", "blob", "ftp", "intent", "about", "ws", "x-y"],
)
def test_schemes_other_than_http_and_https_are_refused(scheme: str) -> None:
    decision = decide(f"{scheme.upper()}://example.com/", [TestServerGrant("127.0.0.1", 80)])

    assert not decision.allowed
    assert decision.reason.startswith(f"{scheme}: ")


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "//example.com/", "http://", "http://:80/", "http://[::1", "http://a:99999/", "http://a b/"],
)
def test_urls_without_scheme_or_host_are_refused(url: str) -> None:
    assert not decide(url).allowed


@pytest.mark.parametrize("url", ["http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.0xg.3/", "http://0x100000000/"])
def test_a_number_that_is_not_an_address_is_refused(url: str) -> None:
    assert not decide(url).allowed


def test_the_refusal_of_a_loopback_address_names_the_option_that_would_allow_it() -> None:
    assert "--local 3000" in decide("http://127.0.0.1:3000/").hint
    assert "--local 80 " in decide("http://localhost/").hint
    assert "--local 443 " in decide("https://localhost/").hint


def test_a_grant_allows_its_own_host_and_port_and_nothing_else() -> None:
    grants = [TestServerGrant("127.0.0.1", 3000)]

    assert decide("http://127.0.0.1:3000/shop", grants).allowed
    assert decide("http://127.1:3000/shop", grants).allowed
    assert not decide("http://127.0.0.1:3001/", grants).allowed
    assert not decide("http://127.0.0.1/", grants).allowed
    assert not decide("http://127.0.0.2:3000/", grants).allowed
    assert not decide("http://localhost:3000/", grants).allowed


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "::1", "app.localhost"])
def test_a_grant_accepts_loopback_names(host: str) -> None:
    grant = TestServerGrant(host, 8000)
    literal = f"[{host}]" if ":" in host else host

    assert decide(f"http://{literal}:8000/", [grant]).allowed


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "192.168.1.2", "", "localhost/", "127.0.0.1:80", None, 7])
def test_a_grant_accepts_no_other_host(host: object) -> None:
    with pytest.raises(UsageError):
        TestServerGrant(host, 8000)  # type: ignore[arg-type]


@pytest.mark.parametrize("port", [0, -1, 65536, True, "80", 80.0, None])
def test_a_grant_accepts_only_valid_ports(port: object) -> None:
    with pytest.raises(UsageError):
        TestServerGrant("127.0.0.1", port)  # type: ignore[arg-type]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}"]))
def test_numeric_hosts_are_judged_as_the_address_they_mean(number: int, form: str) -> None:
    host = parse_host(form.format(number))

    assert host == ".".join(str(byte) for byte in number.to_bytes(4, "big"))
    assert is_loopback(host) == (number >> 24 in (0, 127))


@given(st.text(max_size=80))
def test_any_text_gets_a_decision_and_only_web_schemes_pass(text: str) -> None:
    if decide(text).allowed:
        assert parse_address(text).scheme in ("http", "https")
    assert isinstance(decide("http://" + text).allowed, bool)
