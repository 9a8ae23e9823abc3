"""What all tests share."""

import pytest
from hypothesis import settings

# How long an example takes depends on the machine and says nothing about the code.
settings.register_profile("podium", deadline=None)
settings.load_profile("podium")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the deep tests on request alone."""
    for item in items:
        if item.get_closest_marker("deep") and "deep" not in config.option.markexpr:
            item.add_marker(pytest.mark.skip(reason="takes minutes: run with -m deep"))
