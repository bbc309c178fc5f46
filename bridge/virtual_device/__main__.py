"""`python -m bridge.virtual_device`: one virtual device, started by `bridge.virtual_device.process.client`."""

from __future__ import annotations

import sys

from bridge.virtual_device.process.main import main
from bridge.virtual_device.webviews import run_webviews

if __name__ == "__main__":
    sys.exit(main(run_webviews))
