"""Gives tests on Spark the time that they need on a loaded machine."""

from pathlib import Path

import pytest

LOADED_S = 1_800
"""The time limit of a test. Java, its workers and a first job took 540 s at a load of 9."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        is_here = Path(__file__).parent in item.path.parents
        if is_here and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LOADED_S))
