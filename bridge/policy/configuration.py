"""The operator's policy from a TOML file, the environment and flags. For each setting, the later source wins.

    [browser.policy]
    default_action = "deny"                 # or "allow", "ask"
    allowed_origins = ["*.example.com"]
    denied_origins = ["ads.example.com"]
    repin = "refuse"                        # or "public"
    strict = true

The environment variables are BRIDGE_POLICY_DEFAULT_ACTION, BRIDGE_POLICY_ALLOWED_ORIGINS (separated by commas) and so
on. An unreadable file or an unknown setting stops the program: a policy with a typo must not mean "allow".
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from bridge.errors import UsageError
from bridge.policy.browser_policy import SETTINGS, Asker, BrowserPolicy, check_keys, policy_for

FILE_VARIABLE = "BRIDGE_CONFIG"
_PREFIX = "BRIDGE_POLICY_"
# bridge.ops.effects checks the content of [browser.actions].
_TABLES = frozenset({"policy", "actions"})
_LISTS = frozenset({"allowed_origins", "denied_origins"})


def configuration_file(environ: Mapping[str, str]) -> Path:
    """The configuration file: BRIDGE_CONFIG, else `webview-bridge/config.toml` in the user's configuration folder.

    The working directory is not searched, because an agent's work may have written a file there.
    """
    if named := environ.get(FILE_VARIABLE):
        return Path(named)
    root = environ.get("XDG_CONFIG_HOME") or environ.get("APPDATA")
    return (Path(root) if root else Path.home() / ".config") / "webview-bridge" / "config.toml"


def load_policy(asker: Asker, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> BrowserPolicy:
    """The policy in force: the configured one, else the default for this asker.

    Raises:
        UsageError: An unreadable file, invalid TOML, an unknown key or an invalid value.
    """
    configured = configured_table(environ, "policy")
    if configured is not None:
        check_keys(configured, "[browser.policy]")
    settings = {**(configured or {}), **from_environment(environ)}
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    check_keys(given, "the flags")
    settings |= given
    if configured is None and not settings:
        return policy_for(asker)
    return BrowserPolicy.from_mapping(settings, source="the policy")


def configured_table(environ: Mapping[str, str], name: str) -> dict[str, Any] | None:
    """`[browser.NAME]` of the operator's file; None if the file or the table does not exist.

    Raises:
        UsageError: An unreadable file, invalid TOML, or an unknown table: a policy under a misspelt name would
            otherwise not be in force.
    """
    path = configuration_file(environ)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        if environ.get(FILE_VARIABLE):
            raise UsageError(f"{path} does not exist", hint=f"Correct or unset {FILE_VARIABLE}.") from error
        if path.is_symlink():
            raise UsageError(f"cannot read {path}: the target of the symbolic link does not exist") from error
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return table_of(text, name, str(path))


def table_of(text: str, name: str, source: str) -> dict[str, Any] | None:
    """`[browser.NAME]` of the text of a configuration; see `configured_table`."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{source} is not valid TOML: {error}") from error
    _check_names(document, {"browser"}, source)
    browser = document.get("browser", {})
    if not isinstance(browser, dict):
        raise UsageError(f"{source}: [browser] is not a table")
    _check_names(browser, _TABLES, f"{source}: [browser]")
    table = browser.get(name)
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{source}: [browser.{name}] is not a table")
    return table


def _check_names(given: Mapping[str, Any], known: Set[str], where: str) -> None:
    if unknown := sorted(given.keys() - known):
        raise UsageError(
            f"{where} has an unknown key {unknown[0]!r}", hint="The tables are [browser.policy] and [browser.actions]."
        )


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings in BRIDGE_POLICY_… variables. An empty variable is an empty list, or an error for other settings."""
    found: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(_PREFIX):
            continue
        name = variable.removeprefix(_PREFIX).lower()
        if name not in SETTINGS or variable != variable.upper():
            names = ", ".join(_PREFIX + setting.upper() for setting in SETTINGS)
            raise UsageError(f"unknown environment variable {variable}", hint=f"The settings are {names}.")
        if name in _LISTS:
            found[name] = tuple(part.strip() for part in text.split(",") if part.strip())
        elif name == "strict":
            if text.lower() not in ("true", "false", "1", "0"):
                raise UsageError(f"the environment variable {variable} must be true or false, not {text!r}")
            found[name] = text.lower() in ("true", "1")
        else:
            found[name] = text
    return found
