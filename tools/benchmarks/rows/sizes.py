"""Sizes that have a bar: the script that pages get, and the app that phones get."""

from __future__ import annotations

from collections.abc import Sequence

from tools.benchmarks.bench import Bench
from tools.benchmarks.measuring import Finding, below
from tools.benchmarks.pages import ROOT

_SCRIPT = ROOT / "bridge" / "snapshot" / "injected.min.js"
_CHECKS = ROOT / "bridge" / "snapshot" / "checks.min.js"
_APK = ROOT / "bridge" / "host" / "host_app.apk"


async def sizes(_: Bench) -> Sequence[Finding]:
    apk = "the host app's APK"
    return [
        Finding("the script in the page", _SCRIPT.stat().st_size, "bytes", below(15_361)),
        Finding("the bridge's checks and waits, a second file beside it", _CHECKS.stat().st_size, "bytes"),
        Finding(apk, _APK.stat().st_size / 1000, "kB", below(60))
        if _APK.is_file()
        else Finding(apk, None, "kB", below(60), note="it is not built here: tools/build-host-app"),
    ]
