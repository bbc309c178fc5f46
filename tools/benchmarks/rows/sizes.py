"""Sizes that have a bar: the script that pages get, and the app that phones get."""

from __future__ import annotations

from collections.abc import Sequence

from tools.benchmarks.bench import Bench
from tools.benchmarks.measuring import Finding, below
from tools.benchmarks.pages import ROOT

_SCRIPT = ROOT / "bridge" / "snapshot" / "injected.min.js"
_BESIDE = tuple(_SCRIPT.with_name(name) for name in ("actions.min.js", "checks.min.js"))
_STANDALONE = _SCRIPT.with_name("standalone.min.js")
_APK = ROOT / "bridge" / "host" / "host_app.apk"


async def sizes(_: Bench) -> Sequence[Finding]:
    apk = "the host app's APK"
    return [
        Finding("the script in the page", _SCRIPT.stat().st_size, "bytes", below(15_361)),
        Finding("actions, checks and waits, in files beside it", sum(file.stat().st_size for file in _BESIDE), "bytes"),
        Finding("the script for programs without the bridge", _STANDALONE.stat().st_size, "bytes", below(15_361)),
        Finding(apk, _APK.stat().st_size / 1000, "kB", below(60))
        if _APK.is_file()
        else Finding(apk, None, "kB", below(60), note="it is not built here: tools/build-host-app"),
    ]
