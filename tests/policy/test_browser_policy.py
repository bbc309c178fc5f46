"""The operator's lists, and the sources of settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import UsageError
from bridge.policy import AppGrant, BrowserPolicy, TestServerGrant, decide
from bridge.policy.configuration import from_environment, load_policy
from bridge.policy.names import forbidden_name

HOSTS = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8}){1,3}", fullmatch=True).filter(
    lambda host: forbidden_name(host) is None
)


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("example.com", "https://example.com/", True),
        ("example.com", "https://www.example.com/", False),
        ("example.com", "https://example.com:8443/", True),
        ("*.example.com", "https://www.example.com/", True),
        ("*.example.com", "https://a.b.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("*.example.com", "https://badexample.com/", False),
        ("https://example.com", "http://example.com/", False),
        ("example.com:8443", "https://example.com:8443/", True),
        ("example.com:8443", "https://example.com/", False),
        ("https://example.com:443", "https://example.com/", True),
        ("EXAMPLE.com", "https://example.com/", True),
        ("bücher.example", "https://xn--bcher-kva.example/", True),
        ("8.8.8.8", "http://134744072/", True),
        ("[2606:4700::1]", "https://[2606:4700:0::0001]/", True),
        ("*", "https://anything.example/", True),
        ("https://*", "http://anything.example/", False),
    ],
)
def test_origin_patterns_match_host_scheme_and_port(pattern: str, url: str, matches: bool) -> None:
    assert decide(BrowserPolicy(allowed_origins=[pattern]), url).allowed is matches
    assert decide(BrowserPolicy(default_action="allow", denied_origins=[pattern]), url).allowed is not matches


@pytest.mark.parametrize("form", ["[::ffff:8.8.8.8]", "[64:ff9b::808:808]", "[2002:808:808::1]", "0x08080808"])
def test_an_address_is_denied_in_every_form(form: str) -> None:
    policy = BrowserPolicy(default_action="allow", denied_origins=["8.8.8.8"])

    assert decide(policy, f"http://{form}/").rule == "denied_origins"


def test_no_grant_is_suggested_for_ipv4_in_ipv6_forms() -> None:
    policy = BrowserPolicy(default_action="allow")

    assert "TestServerGrant" in decide(policy, "http://127.0.0.1:8000/").hint
    assert "TestServerGrant" not in decide(policy, "http://[::ffff:7f00:1]:8000/").hint


@pytest.mark.parametrize(
    "pattern",
    ["", "https://", "example.com/path", "exa*mple.com", "*.*.com", "ftp://example.com", "a b", "example.com:0",
     "example.com:99999", "*.1.2.3.4", "javascript:alert(1)", "user@example.com", 7, None],
)  # fmt: skip
def test_an_invalid_origin_pattern_is_an_error(pattern: object) -> None:
    with pytest.raises(UsageError):
        BrowserPolicy(allowed_origins=[pattern])  # type: ignore[list-item]


@pytest.mark.parametrize("pattern", ["127.0.0.1", "localhost", "10.0.0.1:80", "[::1]", "metadata.google.internal"])
def test_always_refused_origins_cannot_be_allowed(pattern: str) -> None:
    with pytest.raises(UsageError, match="never be allowed"):
        BrowserPolicy(allowed_origins=[pattern])
    BrowserPolicy(denied_origins=[pattern])


@given(HOSTS)
def test_denied_origins_win_over_allowed_ones(host: str) -> None:
    policy = BrowserPolicy(default_action="allow", allowed_origins=[host, "*"], denied_origins=[host])

    assert decide(policy, f"https://{host}/").rule == "denied_origins"


def test_denied_origins_win_over_a_grant() -> None:
    policy = BrowserPolicy(default_action="allow", denied_origins=["127.0.0.1:3000"])
    grants = [TestServerGrant("127.0.0.1", 3000), TestServerGrant("127.0.0.1", 3001)]

    assert decide(policy, "http://127.0.0.1:3000/", grants).rule == "denied_origins"
    assert decide(policy, "http://127.0.0.1:3001/", grants).rule == "grant"


@given(st.text(max_size=60) | HOSTS.map("https://{}/".format))
def test_no_url_is_allowed_without_a_rule(url: str) -> None:
    assert decide(BrowserPolicy(), url).action == "deny" or url == "about:blank"


@given(st.text(max_size=60) | HOSTS.map("http://{}:8080/a".format))
def test_a_url_and_its_canonical_form_get_the_same_decision(url: str) -> None:
    policy = BrowserPolicy(default_action="allow")
    first = decide(policy, url)
    if first.url:
        again = decide(policy, first.url)
        assert (again.action, again.host, again.port, again.url) == (first.action, first.host, first.port, first.url)


def test_any_typo_in_the_configuration_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    environ = {"BRIDGE_CONFIG": str(file)}
    for text in (
        "[browser.policy]\nalowed_origins = []",
        "[browser.polcy]\nallowed_origins = []",
        "[browser.policy]\nallowed_origins = 'example.com'",
        "[browser.policy]\nallowed_origins = [1]",
        "[browser.policy]\ndefault_action = 'alow'",
        "[browser.policy]\nstrict = 'yes'",
        "[browser.policy]\nasker = 'operator'",
        "[browser.policy",
        "[brower.policy]\ndefault_action = 'deny'",
        "[Browser.policy]\ndefault_action = 'deny'",
        "[policy]\ndefault_action = 'deny'",
        "default_action = 'deny'",
        "browser = 1",
        "[browser]\npolicy = 1",
    ):
        file.write_text(text)
        with pytest.raises(UsageError):
            load_policy("operator", environ)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot read"):
        load_policy("operator", environ)
    file.unlink()
    with pytest.raises(UsageError, match="does not exist"):
        load_policy("operator", environ)
    for variable in ("BRIDGE_POLICY_ALOWED_ORIGINS", "BRIDGE_POLICY_", "BRIDGE_POLICY_strict"):
        with pytest.raises(UsageError, match="unknown environment variable"):
            from_environment({variable: "x"})


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[browser.policy]\nallowed_origins = ["file.example"]\ndenied_origins = ["bad.example"]\n')
    environ = {"BRIDGE_CONFIG": str(file), "BRIDGE_POLICY_ALLOWED_ORIGINS": "env.example, *.env.example"}

    assert load_policy("model", {"BRIDGE_CONFIG": str(file)}).allowed_origins == ("file.example",)
    by_environment = load_policy("model", environ)
    assert by_environment.allowed_origins == ("env.example", "*.env.example")
    assert by_environment.denied_origins == ("bad.example",)
    assert load_policy("model", environ, {"allowed_origins": ("flag.example",)}).allowed_origins == ("flag.example",)


def test_the_default_policy_allows_a_model_nothing_and_the_operator_the_public_web(tmp_path: Path) -> None:
    nothing = {"XDG_CONFIG_HOME": str(tmp_path)}

    refused = decide(load_policy("model", nothing), "https://example.com/")
    assert not refused.allowed
    assert refused.hint == 'The operator can allow it in [browser.policy]: allowed_origins = ["example.com"]'
    assert decide(load_policy("operator", nothing), "https://example.com/").allowed
    assert not decide(load_policy("operator", nothing), "http://10.0.0.1/").allowed


def test_an_empty_policy_denies_by_default(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[browser.policy]\n")
    assert load_policy("operator", {"BRIDGE_CONFIG": str(file)}).default_action == "deny"
    file.write_text("[browser.actions]\n")
    assert load_policy("operator", {"BRIDGE_CONFIG": str(file)}).default_action == "allow"


def test_an_app_grant_covers_only_the_apps_own_origins() -> None:
    grant = AppGrant("com.example.app", ["https://localhost", "file:///android_asset/"])
    policy = BrowserPolicy(default_action="allow")

    assert decide(policy, "https://localhost/index.html", [grant]).allowed
    assert decide(policy, "file:///android_asset/www/index.html", [grant]).allowed
    assert not decide(policy, "file:///android_asset/../../data/x", [grant]).allowed
    assert not decide(policy, "http://localhost/", [grant]).allowed
    assert not decide(policy, "file:///sdcard/x", [grant]).allowed
    with pytest.raises(UsageError):
        AppGrant("app", ("https://localhost",))
    for origins in ((), ("https://example.com",), ("file:///",), "https://localhost", ("content://",)):
        with pytest.raises(UsageError):
            AppGrant("com.example.app", origins)  # type: ignore[arg-type]
