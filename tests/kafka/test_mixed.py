"""Runs of `kraftproof test --system mixed`, and a bad byte in the log of a node."""

from pathlib import Path
from typing import Any

import pytest

from kraftproof.checkers import check_run
from kraftproof.checkers.history.tables import write_table
from kraftproof.checkers.verdict import Verdict
from kraftproof.cluster.systems.kafka.stored_batches import batches
from tests.kafka.runs import UNDER_FAULTS, end_of_batch, run

pytestmark = pytest.mark.kafka
NODES = (1, 2, 3, 4)
VOTERS = "reference=2,apache-kafka=1,apache-kafka+broker=1"
"""Three voters, and a second broker, which serves clients while the voter with a broker is down."""
BROKERS = "reference+controller=3,apache-kafka+broker=2"
OUR_BROKER = "apache-kafka+controller=3,reference+broker=1,apache-kafka+broker=1"


@pytest.fixture(scope="module")
def under_faults(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the result of a run of three voters of both systems under kill and pause."""
    del jars  # they are there before the run begins
    nodes = ("--system", "mixed", "--nodes", VOTERS)
    return run(tmp_path_factory.mktemp("store"), *nodes, *UNDER_FAULTS)


def test_voters_of_both_systems_are_valid_under_kill_and_pause(
    under_faults: dict[str, Any],
) -> None:
    assert under_faults["verdict"] == "valid", str(under_faults)
    verdict = check_run(Path(under_faults["run"]))
    judged = {"kraft/logs-identical", "kraft/logs-agree", "kraft/acknowledged-topics-in-log"}
    assert judged <= set(verdict.checked)


def test_a_changed_byte_in_the_log_of_a_node_is_found(under_faults: dict[str, Any]) -> None:
    directory = Path(under_faults["run"])
    for node in NODES:  # all nodes have the whole log, so that each node is compared
        assert len(batches(directory / "nodes" / str(node), node)) > 5
    (segment,) = (directory / "nodes" / "3").rglob("__cluster_metadata-0/*.log")
    log = bytearray(segment.read_bytes())
    start = end_of_batch(log, end_of_batch(log, 0))
    offset = int.from_bytes(log[start : start + 8], "big")
    place = end_of_batch(log, start) - start - 1
    log[start + place] ^= 0x40
    segment.write_bytes(log)
    rows = [row for node in NODES for row in batches(directory / "nodes" / str(node), node)]
    write_table(directory / "tables", "batches", rows)
    verdict = check_run(directory)
    assert verdict.verdict is Verdict.INVALID
    (found,) = verdict.findings
    assert (found.check, found.node, found.log_offset) == ("kraft/logs-identical", "3", offset)
    assert f"byte {place} of the batch, in the records, is 0x" in found.sentence


@pytest.mark.long
@pytest.mark.parametrize("nodes", [BROKERS, OUR_BROKER])
def test_brokers_of_one_system_work_on_controllers_of_the_other(
    nodes: str, jars: Path, tmp_path: Path
) -> None:
    del jars
    result = run(tmp_path, "--system", "mixed", "--nodes", nodes, *UNDER_FAULTS)
    assert result["verdict"] == "valid", str(result)


@pytest.mark.long
@pytest.mark.docker
def test_a_mixed_quorum_in_containers_is_valid_under_partitions_too(tmp_path: Path) -> None:
    faults = ("--nemesis", "kill,pause,partition", "--fault-every", "6", "--min-bites", "1")
    where = ("--system", "mixed", "--backend", "docker", "--time-limit", "30")
    result = run(tmp_path, *where, *faults)
    assert result["verdict"] == "valid", str(result)
