"""Each bug of the catalogue's series A and B turns a scenario red that says it is about it.

The first comment of a scenario file names the rows that it is about; with the bug of a row in the
node, at least one of its files no longer reads as it was written.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof import mutants
from tests.support.long_cases import mostly_long

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "tests/node/scenarios").rglob("*.txt"))
ROW = re.compile(r"\b[AB]\d+[ab]?\b")
ROWS = [mutant_id for mutant_id in mutants.IDS if ROW.fullmatch(mutant_id)]
QUICK = ("A1", "A24b", "B5")
"""Rows of both series, in scenarios of the core and of whole nodes, that `make test` tries."""
CHECK = """
import sys
from kraftproof import mutants
mutants.install(sys.argv[1])
from pathlib import Path
from tests.support.node.scenario_harness import Scenario
from tests.support.node.whole_scenario import WholeScenario
for path in map(Path, sys.argv[2:]):
    text = path.read_text(encoding="utf-8")
    scenario = WholeScenario() if path.parent.name == "whole" else Scenario()
    try:
        happened = scenario.run(text)
    except Exception as error:
        happened = f"{type(error).__name__}"
    if happened != text:
        print(path.stem)
"""


def rows_named(path: Path) -> set[str]:
    """The rows that a scenario's first comment names."""
    text = path.read_text(encoding="utf-8")
    comment = "".join(text.partition("\n\n")[0])
    return set(ROW.findall(comment))


def about(row: str) -> list[Path]:
    return [path for path in FILES if row in rows_named(path)]


def test_every_row_has_a_mutant_and_a_scenario() -> None:
    named = set().union(*map(rows_named, FILES))
    assert named >= set(ROWS)
    assert set(ROWS) >= named


@pytest.mark.slow
@pytest.mark.parametrize("row", mostly_long(((row, row) for row in ROWS), QUICK))
def test_the_bug_of_a_row_shows_in_a_scenario_about_it(row: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECK, row, *map(str, about(row))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    red = done.stdout.split()
    assert red, f"{[path.stem for path in about(row)]} are as they were with the bug in the node"
    assert set(red) <= {path.stem for path in about(row)}
