"""Hosts are parsed as Chromium parses them: web platform test data, and generated URLs."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from bridge.page.page import Page
from bridge.policy.address import DEFAULT_PORTS, parse_address

DATA: list[Any] = json.loads((Path(__file__).parent / "corpus" / "whatwg.json").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = [case for case in DATA if isinstance(case, dict)]
# The standard refuses labels that stand for nothing a host may hold; Chromium takes what is ASCII as it is written
# (seen live), and so do we: no name server knows such a name.
TAKEN_BY_CHROMIUM = "xn--pokxncvks"

_SYNTAX = (
    r"http:// https: http:\\ // / \ @ : # ? % %2e %00 %41 [ ] [::1] :: [::ffff:1.2.3.4] . .. - _ ~ xn-- xn--bcher-kva "
    "0x7f 0177 1 127.0.0.1 256 example com localhost * ! $ & ' ( ) + , ; = ^ | < > ` { } \" user:pass@ "
    ":80 :443 :0080 :99999"
)
_SINGLE = (
    " \t\n\x00\x7f\ufffd\U0001f4a9\u3002\uff0e\uff61\u200b\u200d\u00ad\u2460\uff11\u00df\u00fc\u65e5\u0130\u1e9e\u212a"
    "\u05d0\u0661\u2044\u2100\u1806"
)
_PIECES = (*_SYNTAX.split(" "), *_SINGLE)
_PLAIN = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:]+\]")


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["input"])[:60])
def test_web_platform_test_urls_have_the_expected_hosts(case: dict[str, Any]) -> None:
    address = parse_address(case["input"])
    if case["input"].lower().endswith(TAKEN_BY_CHROMIUM):
        assert address.host == case["input"].lower().removeprefix("http://")
    elif case.get("failure"):
        assert address.host is None
    elif address.scheme and case.get("protocol") in ("http:", "https:") and _is_absolute(case):
        if not _PLAIN.fullmatch(case["hostname"]):
            assert address.host is None
            return
        assert address.host == case["hostname"].strip("[]")
        assert address.port == int(case["port"] or DEFAULT_PORTS[address.scheme])
        assert address.url == case["href"]


@pytest.mark.browser
async def test_chromium_parses_the_same_hosts(page: Page) -> None:
    seed = random.randrange(2**32)  # noqa: S311 - test data
    rng = random.Random(seed)  # noqa: S311 - test data
    urls = [case["input"] for case in CASES]
    urls += ["http://" + "".join(rng.choices(_PIECES, k=rng.randint(1, 7))) for _ in range(6000)]
    urls += ["".join(rng.choices(_PIECES, k=rng.randint(1, 6))) for _ in range(2000)]

    attachment = await page.attached()
    read_one = "u=>{try{const x=new URL(u);return [x.protocol,x.hostname,x.port]}catch(e){return null}}"
    expression = f"({json.dumps(urls)}).map({read_one})"
    read = await attachment.evaluate(attachment.state.main_frame_id or "", expression, timeout_s=60)

    differences, only_chromium = [], []
    for url, theirs in zip(urls, read, strict=True):
        ours = parse_address(url)
        if ours.host is None:
            if theirs is not None and theirs[0][:-1] in DEFAULT_PORTS:
                only_chromium.append((url, theirs))
        elif theirs is None:
            # Chromium holds right-to-left names to rules of their own (RFC 5893): it will not open what we let pass.
            if "xn--" not in ours.host:
                differences.append((url, ours, theirs))
        else:
            port = int(theirs[2] or DEFAULT_PORTS[theirs[0][:-1]])
            if (ours.host, ours.port) != (theirs[1].strip("[]"), port):
                differences.append((url, ours, theirs))
    assert differences == [], f"seed {seed}: {len(differences)} of {len(urls)}: {differences[:5]}"
    # What is refused here has, in Chromium, a host of characters that no name of the web has, a percent sign that it
    # decodes twice, or an IPv6 address with characters around it that it ignores.
    odd = [
        (url, host)
        for url, (_, host, _) in only_chromium
        if _PLAIN.fullmatch(host) and "\uff05" not in unquote(url) and not (host[0] == "[" and not url.isascii())
    ]
    assert odd == [], f"seed {seed}: {odd[:5]}"


def _is_absolute(case: dict[str, Any]) -> bool:
    """Whether the case does not need its base: `http:foo` does where the base is http too."""
    return case["base"] == "about:blank" or "://" in case["input"].replace("\\", "/")
