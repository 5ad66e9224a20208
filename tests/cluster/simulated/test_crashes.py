"""An exception out of code of a node is a violation of kind crash, wherever it is raised."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.network.transport import CodecTransport
from kraftproof.cluster.simulated.simulated_cluster import (
    CRASH_FILE,
    InvariantViolatedError,
    SimulatedCluster,
)
from kraftproof.cluster.simulated.violation import ViolationKind
from kraftproof.node.core.node import Node
from kraftproof.node.storage.stored import Storage

pytestmark = pytest.mark.simulation

SECOND_NS = 1_000_000_000
SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "300"}


def breaks(*arguments, **options):
    del arguments, options
    raise TypeError("'NoneType' object at 0x7f0123456789 has no\nlength")


def breaks_later(*arguments, **options):
    def steps():
        yield
        breaks(*arguments, **options)

    return steps()


def breaks_at_fsync(*arguments):
    del arguments
    return breaks


def crash_of(directory, seed=3):
    """Run a small cluster until something crashes; return the one violation."""
    options = ClusterOptions(
        nodes=nodes_of(controller=3, broker=1),
        seed=seed,
        directory=directory,
        node_config=SNAPSHOTS,
    )
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        await cluster.scope.sleep(20 * SECOND_NS)

    with pytest.raises(InvariantViolatedError):
        cluster.run(main())
    cluster.write_files()
    return cluster.violations[0]


@pytest.mark.parametrize(
    ("code", "name", "broken"),
    [
        (Node, "start", breaks),
        (Node, "step", breaks),
        (Node, "status", breaks),
        (Node, "deadline", breaks),
        (Storage, "append", breaks),
        (Storage, "start_flush", breaks_at_fsync),
        (Storage, "write_snapshot", breaks_later),
    ],
)
def test_a_crash_of_a_process_names_its_node_and_keeps_the_traceback(
    tmp_path, monkeypatch, code, name, broken
):
    monkeypatch.setattr(code, name, broken)
    violation = crash_of(tmp_path)
    assert violation.kind is ViolationKind.CRASH
    assert violation.invariant == "NoUnhandledException"
    assert violation.node in {1, 2, 3, 4}
    assert violation.time_ns >= 0
    assert violation.detail == ("TypeError in breaks: 'NoneType' object at 0x... has no length")
    assert "TypeError: 'NoneType' object at 0x7f" in (tmp_path / CRASH_FILE).read_text()


def test_a_node_that_can_not_be_made_is_a_crash_of_its_start(tmp_path, monkeypatch):
    monkeypatch.setattr("kraftproof.cluster.simulated.node.machine.open_node_storage", breaks)
    violation = crash_of(tmp_path)
    assert (violation.kind, violation.node, violation.time_ns) == (ViolationKind.CRASH, 1, 0)


@pytest.mark.parametrize("code", ["decode_request", "decode_response"])
def test_what_the_codec_can_not_read_is_a_crash(tmp_path, monkeypatch, code):
    monkeypatch.setattr(f"kraftproof.cluster.simulated.network.transport.{code}", breaks)
    monkeypatch.setattr("kraftproof.cluster.simulated.world.InMemoryTransport", CodecTransport)
    violation = crash_of(tmp_path)
    assert violation.kind is ViolationKind.CRASH
    assert violation.node in {1, 2, 3, 4}


def test_an_exit_without_a_request_to_stop_is_a_violation(tmp_path):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=1, broker=1), seed=3, directory=tmp_path)
    )

    async def main():
        await cluster.start()
        cluster.world.machines[2].process._shell.stop()
        await cluster.scope.sleep(20 * SECOND_NS)

    with pytest.raises(InvariantViolatedError, match=r"NoUnexpectedExit.*status 0"):
        cluster.run(main())
