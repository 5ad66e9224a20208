"""`python -m tests.requirements.broken NAME`: run a requirement's tests on a broken node.

The edit is installed before anything of the node is imported; then pytest runs the tests that
carry the requirement, up to the first failure. The exit status is pytest's: 1 if a test failed, 5
if no test carries the requirement.
"""

import sys

import pytest

from scripts.edited_tests import run_edited
from tests.requirements.breakages import BREAKAGES, Breakage


class CarriersOnly:
    """Plug-in of pytest that keeps only the tests which carry a requirement."""

    def __init__(self, requirement: str) -> None:
        self._requirement = requirement

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [
            item
            for item in items
            if any(self._requirement in mark.args for mark in item.iter_markers("requirement"))
        ]


def run(breakage: Breakage) -> int:
    """Install the edit, run the tests, and return pytest's exit status."""
    carriers = CarriersOnly(breakage.requirement)
    return run_edited(breakage.mutant, [breakage.tests], [carriers])


if __name__ == "__main__":
    (chosen,) = [each for each in BREAKAGES if each.name == sys.argv[1]]
    sys.exit(run(chosen))
