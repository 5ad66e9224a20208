"""Each scenario file reads as it would be written now (`REWRITE_SCENARIOS=1` rewrites them).

The requirement ids that a file's comments name are its marks (docs/requirements.tsv).
"""

import os
import re
from pathlib import Path

import pytest

from kraftproof.node.core.raft import roles, state
from tests.support.node.scenario_harness import Scenario
from tests.support.node.whole_scenario import WholeScenario

FOLDER = Path(__file__).parent / "scenarios"
WHOLE = sorted((FOLDER / "whole").glob("*.txt"))
FILES = sorted(FOLDER.glob("*.txt"))
REQUIREMENT = re.compile(r"\b(?:595|631|590|497)-\d{2,3}\b")


def marked(path):
    comments = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    ids = sorted({"595-76", *REQUIREMENT.findall(" ".join(comments))})
    return pytest.param(path, id=path.stem, marks=[pytest.mark.requirement(each) for each in ids])


@pytest.mark.parametrize("path", [marked(path) for path in FILES + WHOLE])
def test_scenario(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# "), "the first line says what the scenario is for"
    happened = (WholeScenario() if path in WHOLE else Scenario()).run(text)
    if os.environ.get("REWRITE_SCENARIOS") == "1":
        path.write_text(happened, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == happened


@pytest.mark.requirement("595-12")
def test_the_scenarios_take_every_way_of_the_role_table(monkeypatch):
    taken = set()

    def note(old, event, new):
        taken.add((type(old), type(new)))
        roles.assert_transition(old, event, new)

    monkeypatch.setattr(state, "assert_transition", note)
    for path in FILES:
        Scenario().run(path.read_text(encoding="utf-8"))
    table = {(old, to) for (_, to), sources in roles.TRANSITIONS.items() for old in sources}
    assert taken == table
