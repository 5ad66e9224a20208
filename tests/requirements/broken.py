"""`python -m tests.requirements.broken NAME`: run a requirement's tests on a broken node.

The edit is installed before anything of the node is imported; then pytest runs the tests that
carry the requirement, up to the first failure. Tests that need Docker, Spark or Kafka's jars are
left out, unless the edit names their stage. The exit status is pytest's: 1 if a test failed, 5 if
no test carries the requirement.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from scripts.edited_tests import run_edited
from tests.requirements.breakage import BREAKAGES, Breakage

TESTS: Final = Path(__file__).resolve().parents[1]
SITE: Final = Path(__file__).with_name("site")
OTHER_STAGES: Final = ("docker", "kafka", "long", "spark")


class CarriersOnly:
    """Plug-in of pytest that keeps only the tests which carry a requirement."""

    def __init__(self, breakage: Breakage) -> None:
        self._requirement = breakage.requirement
        self._left_out = [stage for stage in OTHER_STAGES if stage != breakage.stage]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self._is_carrier(item)]

    def _is_carrier(self, item: pytest.Item) -> bool:
        if any(item.get_closest_marker(name) for name in self._left_out):
            return False
        return any(self._requirement in mark.args for mark in item.iter_markers("requirement"))


def files_of(requirement: str) -> list[str]:
    """Return the files of tests that may carry a requirement.

    A file names the requirement, or marks its tests by parameters, such as those of the scenarios.
    """
    named = re.compile(rf'"{requirement}"|\brequirement\((?!")')
    files = sorted(TESTS.rglob("test_*.py"))
    return [str(path) for path in files if named.search(path.read_text(encoding="utf-8"))]


def edit_processes(breakage: Breakage) -> None:
    """Install the edit in the processes that the tests start, such as the nodes of a cluster."""
    (edit,) = breakage.mutant.edits
    fields = {"module": edit.module, "old": edit.old, "new": edit.new}
    os.environ["KRAFTPROOF_EDIT"] = json.dumps(fields)
    paths = [str(SITE), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def run(breakage: Breakage) -> int:
    """Install the edit, run the tests, and return pytest's exit status."""
    edit_processes(breakage)
    carriers = CarriersOnly(breakage)
    return run_edited(breakage.mutant, files_of(breakage.requirement), [carriers])


if __name__ == "__main__":
    (chosen,) = [each for each in BREAKAGES if each.name == sys.argv[1]]
    sys.exit(run(chosen))
