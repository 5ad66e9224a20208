"""Each scenario file reads as it would be written now (`REWRITE_SCENARIOS=1` rewrites them)."""

import os
from pathlib import Path

import pytest

from tests.node.scenario_harness import Scenario

FILES = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))


@pytest.mark.requirement("595-76")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_scenario(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# "), "the first line says what the scenario is for"
    happened = Scenario().run(text)
    if os.environ.get("REWRITE_SCENARIOS") == "1":
        path.write_text(happened, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == happened
