"""The operator's policy from a TOML file, the environment and flags, in this order; the later one wins per setting.

    [browser.policy]
    default_action = "deny"                 # or "allow", "ask"
    allowed_origins = ["*.example.com"]
    denied_origins = ["ads.example.com"]
    repin = "refuse"                        # or "public"
    strict = true

The environment has BRIDGE_POLICY_DEFAULT_ACTION, BRIDGE_POLICY_ALLOWED_ORIGINS (separated by commas) and so on. What
cannot be read, or names a setting that there is not, stops the start: a policy with a typo must not mean "allow".
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
# What is in [browser.actions] is checked by bridge.ops.effects.
_TABLES = frozenset({"policy", "actions"})
_LISTS = frozenset({"allowed_origins", "denied_origins"})


def configuration_file(environ: Mapping[str, str]) -> Path:
    """Where the file is: BRIDGE_CONFIG, else `webview-bridge/config.toml` in the user's configuration folder.

    Never in the working directory, where an agent's work may have put one.
    """
    if named := environ.get(FILE_VARIABLE):
        return Path(named)
    root = environ.get("XDG_CONFIG_HOME") or environ.get("APPDATA")
    return (Path(root) if root else Path.home() / ".config") / "webview-bridge" / "config.toml"


def load_policy(asker: Asker, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> BrowserPolicy:
    """The policy in force: what is configured, else what holds for this asker without configuration.

    Raises:
        UsageError: A file that cannot be read, no TOML, an unknown key, a value that is none.
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
    """`[browser.NAME]` of the operator's file; None where there is no file, or no such table in it.

    Raises:
        UsageError: A file that cannot be read, no TOML, or a table that we do not know: a typo in the name of one
            would otherwise be a policy that is not in force.
    """
    path = configuration_file(environ)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        if environ.get(FILE_VARIABLE):
            raise UsageError(f"{path} is not there", hint=f"Correct or unset {FILE_VARIABLE}.") from error
        if path.is_symlink():
            raise UsageError(f"{path} cannot be read: it links to what is not there") from error
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    return table_of(text, name, str(path))


def table_of(text: str, name: str, source: str) -> dict[str, Any] | None:
    """`[browser.NAME]` of a configuration's text; see `configured_table`."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{source} is no TOML: {error}") from error
    _check_names(document, {"browser"}, f"{source} has")
    browser = document.get("browser", {})
    if not isinstance(browser, dict):
        raise UsageError(f"{source}: [browser] is no table")
    _check_names(browser, _TABLES, f"{source}: [browser] has")
    table = browser.get(name)
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"{source}: [browser.{name}] is no table")
    return table


def _check_names(given: Mapping[str, Any], known: Set[str], where: str) -> None:
    if unknown := sorted(given.keys() - known):
        raise UsageError(
            f"{where} {unknown[0]!r}, which is no setting", hint="There are [browser.policy] and [browser.actions]."
        )


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings of BRIDGE_POLICY_…; an empty variable is an empty list, or an error."""
    found: dict[str, Any] = {}
    for variable, text in environ.items():
        if not variable.startswith(_PREFIX):
            continue
        name = variable.removeprefix(_PREFIX).lower()
        if name not in SETTINGS or variable != variable.upper():
            names = ", ".join(_PREFIX + setting.upper() for setting in SETTINGS)
            raise UsageError(f"the environment's {variable} is no setting", hint=f"There are {names}.")
        if name in _LISTS:
            found[name] = tuple(part.strip() for part in text.split(",") if part.strip())
        elif name == "strict":
            if text.lower() not in ("true", "false", "1", "0"):
                raise UsageError(f"the environment's {variable} is {text!r}, not true or false")
            found[name] = text.lower() in ("true", "1")
        else:
            found[name] = text
    return found
