"""A program of a user of Ray, run by an interpreter that has it: prints its outcomes as one line of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import ray

from bridge import run_on_ray
from bridge.errors import BridgeError
from bridge.surfaces.demo.server import serve_demo_pages
from tests.pool.pool_jobs import products_for, products_without_await, wanted, work_for


async def main(devices: int, jobs: int, deaths: int, folder: Path) -> None:
    try:
        await run_on_ray(products_for, [])
    except BridgeError as error:
        unconnected = str(error)
    ray.init(num_cpus=1, resources={"android_device": devices}, include_dashboard=False, log_to_driver=False)
    with serve_demo_pages() as shop:
        items = work_for(shop.url("shop.html"), jobs, folder, deaths=deaths)
        options = {"grants": [shop.grant]}
        began = time.monotonic()
        outcomes = await run_on_ray(products_for, items, device="virtual", session_options=options)
        took_s = time.monotonic() - began
        plain = await run_on_ray(products_without_await, items[:1], device="virtual", session_options=options)
        none = await run_on_ray(products_for, items[:1], session_options=options, timeout_s=20)
    print(
        json.dumps(
            {
                "unconnected": unconnected,
                "are_right": [outcome.value for outcome in outcomes] == wanted(items),
                "errors": [str(outcome.error) for outcome in outcomes if outcome.error],
                "attempts": sum(outcome.attempts for outcome in outcomes),
                "serials": len({outcome.serial for outcome in outcomes}),
                "plain": [outcome.value for outcome in plain] == wanted(items[:1]),
                "nothing_attached": [str(outcome.error) for outcome in none],
                "took_s": round(took_s),
            }
        )
    )


if __name__ == "__main__":
    devices, jobs, deaths, folder = sys.argv[1:]
    asyncio.run(main(int(devices), int(jobs), int(deaths), Path(folder)))
