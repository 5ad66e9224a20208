"""Runs of `kraftproof test --system apache-kafka` on processes of this machine."""

from pathlib import Path
from typing import Any

import pytest

from kraftproof.checkers import check_run
from kraftproof.checkers.history.tables import write_table
from kraftproof.checkers.verdict import Verdict
from kraftproof.cluster.systems.kafka import files
from tests.kafka.runs import UNDER_FAULTS, end_of_batch, run

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def under_faults(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the result of a run of three nodes under kill and pause."""
    del jars  # they are there before the run begins
    return run(tmp_path_factory.mktemp("store"), "--system", "apache-kafka", *UNDER_FAULTS)


def test_a_run_under_kill_and_pause_is_valid_and_its_logs_are_judged(
    under_faults: dict[str, Any],
) -> None:
    assert under_faults["verdict"] == "valid", str(under_faults)
    verdict = check_run(Path(under_faults["run"]))
    judged = {"kraft/logs-agree", "kraft/log-in-order", "kraft/acknowledged-topics-in-log"}
    assert judged <= set(verdict.checked)
    assert "kraft/image-offset-monotone" not in verdict.checked


def test_a_batch_that_one_node_lacks_makes_the_run_invalid(under_faults: dict[str, Any]) -> None:
    directory = Path(under_faults["run"])
    (segment,) = (directory / "nodes" / "2").rglob("__cluster_metadata-0/*.log")
    log = segment.read_bytes()
    start = end_of_batch(log, end_of_batch(log, 0))
    segment.write_bytes(log[:start] + log[end_of_batch(log, start) :])
    rows = [
        row
        for number in (1, 2, 3)
        for row in files.records(directory / "nodes" / str(number), number)
    ]
    write_table(directory / "tables", "records", rows)
    verdict = check_run(directory)
    assert verdict.verdict is Verdict.INVALID
    assert [(one.check, one.node) for one in verdict.findings] == [("kraft/log-in-order", "2")]
