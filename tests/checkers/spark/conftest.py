"""Gives tests on Spark the time that they need on a loaded machine."""

from pathlib import Path

import pytest

LOADED_S = 1_800
"""The time limit of a test. Java, its workers and a first job took 540 s at a load of 9."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}/"
    for item in items:
        # A comparison of texts: one of paths took a tenth of the CPU seconds of collecting.
        if str(item.path).startswith(here) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LOADED_S))
