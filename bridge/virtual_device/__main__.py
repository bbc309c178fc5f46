"""`python -m bridge.virtual_device`: one virtual device, started by `bridge.virtual_device.client`."""

from __future__ import annotations

import sys

from bridge.virtual_device.process import main

if __name__ == "__main__":
    sys.exit(main())
