"""A live node that answers with another id is found by the clients of the run."""

import json
from pathlib import Path

import pytest

from tests.support.command import KRAFTPROOF, run

PLANTED = Path(__file__).parents[2] / "support" / "other_id.py"


@pytest.mark.long
def test_a_run_names_the_wrong_answers_of_a_node(tmp_path) -> None:
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "local", "--nodes", "1+1"),
        *("--workload", "topics", "--nemesis", "none", "--time-limit", "4"),
        *("--engine", "inline", "--store", tmp_path, "--mutant", PLANTED),
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert "AnswersComeOnceInOrder: node 2: answer 10 to request 9" in done.stdout + done.stderr
    [outcome] = tmp_path.glob("*/outcome.json")
    first = json.loads(outcome.read_bytes())["violations"][0]
    assert (first["node"], first["kind"]) == (2, "property")
    assert first["time_ns"] > 0
