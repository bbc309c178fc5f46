"""Tests of your own app's WebView: `pytest --webview-app=org.example.sample docs/examples/own_app`."""

import pytest

from bridge.surfaces.local_server import LocalServer


@pytest.fixture
def webview_session_options(local_server: LocalServer) -> dict[str, str]:
    """What `Session.attach` gets: the activity to launch, and the address it is to open."""
    return {"activity": ".Main", "data": local_server.url("checkout.html")}
