"""A loopback server behind a public name, and certificates that are made for one run."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from site_server import Authority, MappedEgress, Site, openssl, serve


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    async with serve() as site:
        yield site


@pytest.fixture
def egress() -> MappedEgress:
    return MappedEgress()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("authority")
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test authority"),
        *("-keyout", folder / "ca.key", "-out", folder / "ca.pem"),
        *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"),
    )
    return Authority(folder)
