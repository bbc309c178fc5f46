"""The projects that replayed traces run in are those of the pytest plugin's tests."""

from tests.pytest_plugin.conftest import installed_wheel, project

__all__ = ["installed_wheel", "project"]
