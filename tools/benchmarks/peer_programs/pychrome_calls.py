"""pychrome over a forwarded port, one JSON line in, one out: pychrome_calls.py PORT"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pychrome


def main(port: str) -> None:
    tab: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "connect":
                tab = pychrome.Browser(url=f"http://127.0.0.1:{port}").list_tab()[0]
                tab.start()
            began = time.perf_counter()
            reply = tab.call_method(
                "Runtime.evaluate", expression=request.get("expression", "1"), returnByValue=True, _timeout=60
            )
            ms = (time.perf_counter() - began) * 1000
            said = {"ms": ms, "chars": len(str(reply["result"]["value"]))}
        except Exception as error:
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
