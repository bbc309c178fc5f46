"""A loopback server behind a public name, and certificates that are made for one run."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from site_server import MappedEgress, Site, serve


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    async with serve() as site:
        yield site


@pytest.fixture
def egress() -> MappedEgress:
    return MappedEgress()


@dataclass(frozen=True)
class Authority:
    """A certificate authority of our own, and what it has signed."""

    folder: Path

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))

    def server(self, name: str, *, days: int = 2, self_signed: bool = False) -> ssl.SSLContext:
        """A server's context with a certificate for that name."""
        key, request, certificate = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        _openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        (self.folder / "names.cnf").write_text(f"subjectAltName=DNS:{name}\n")
        signed_by = (
            ("-signkey", key)
            if self_signed
            else ("-CA", self.folder / "ca.pem", "-CAkey", self.folder / "ca.key", "-CAcreateserial")
        )
        lifetime = ("-days", str(days)) if days > 0 else ("-not_before", "20200101000000Z", "-not_after", "20200102000000Z")
        _openssl(
            "x509", "-req", "-in", request, "-out", certificate, "-extfile", self.folder / "names.cnf", *signed_by, *lifetime
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    folder = tmp_path_factory.mktemp("authority")
    _openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Test authority"),
        *("-keyout", folder / "ca.key", "-out", folder / "ca.pem"),
        *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"),
    )
    return Authority(folder)
