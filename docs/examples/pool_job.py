"""Read the titles of many pages on several devices: `python pool_job.py URL…`."""

import argparse
import asyncio
from urllib.parse import urlsplit

from bridge import DevicePool, Session, TestServerGrant


async def title(session: Session, url: str) -> str:
    page = await session.new_page(url)
    return await page.title()


async def main(urls: list[str], devices: list[str]) -> None:
    # Addresses of this machine are refused unless they are granted.
    ports = {urlsplit(url).port for url in urls if urlsplit(url).hostname == "127.0.0.1"}
    options = {"grants": [TestServerGrant("127.0.0.1", port) for port in ports if port]}
    async with DevicePool.open(devices, session_options=options) as pool:
        for url, outcome in zip(urls, await pool.run(title, urls), strict=True):
            print(url, outcome.value if outcome.error is None else outcome.error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+", metavar="URL")
    parser.add_argument("--device", action="append", help="a serial, or virtual; may be repeated (default: virtual)")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.urls, arguments.device or ["virtual"]))
