"""The simulated ports notice a shell that does not wait for the disk."""

import pytest
from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.network.transport import (
    CodecTransport,
    InMemoryTransport,
    Outgoing,
)
from kraftproof.cluster.simulated.node.port_contract import SENTENCES, PortContract
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN
from kraftproof.node.core.effects import CleanLog, PersistQuorumState, Truncate
from kraftproof.node.core.events import Tick
from kraftproof.node.shell import effect_executor
from kraftproof.node.wire.messages.generated.vote_response import VoteResponse
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness
from tests.node.shell.effects import forward

PERSIST = PersistQuorumState(QuorumState())
CLEAN = CleanLog(LOG_BEGIN)
SECOND_NS = 1_000_000_000


class Watched:
    """The contract of one process, and what broke it."""

    def __init__(self):
        self.harness = MonitorHarness()
        self.contract = PortContract(self.harness.process(1), self.harness.monitor)

    @property
    def broken(self):
        return [violation.invariant for violation in self.harness.monitor.violations]


def test_no_event_is_taken_while_a_barrier_is_on_its_way_to_the_disk():
    watched = Watched()
    watched.contract.barrier_begins(PERSIST)
    watched.contract.on_effect(PERSIST)
    assert watched.contract.barrier is PersistQuorumState
    watched.contract.barrier_ends()
    assert watched.contract.barrier is None
    assert watched.broken == []
    watched.contract.barrier_begins(PERSIST)
    watched.contract.on_step(Tick())
    watched.contract.on_effect(CLEAN)
    assert watched.broken == ["BarriersHold"] * 2


@pytest.mark.parametrize("effect", [CLEAN, Truncate(METADATA_LOG, 0)])
def test_no_file_changes_while_an_fsync_is_under_way(effect):
    watched = Watched()
    watched.contract.fsync_begins()
    watched.contract.fsync_ends()
    watched.contract.files_change(effect)
    assert watched.broken == []
    watched.contract.fsync_begins()
    watched.contract.files_change(effect)
    assert watched.broken == ["FlushesAreWaitedFor"]


def test_snapshots_are_worked_on_one_at_a_time():
    watched = Watched()
    for _ in range(2):
        watched.contract.snapshot_begins()
        watched.contract.snapshot_ends()
    assert watched.broken == []
    watched.contract.snapshot_begins()
    watched.contract.snapshot_begins()
    assert watched.broken == ["OneSnapshotAtATime"]


def test_an_answer_resumes_the_request_that_it_answers():
    watched = Watched()
    asked, other = VoteResponse(), VoteResponse()
    watched.contract.is_answered(asked, asked)
    assert watched.broken == []
    watched.contract.is_answered(asked, other)
    assert watched.broken == ["AnswersFitRequests"]


class Connection:
    """A connection to a peer that was established, or never."""

    def __init__(self, *, is_established):
        self.is_established = is_established

    def close(self):
        pass


@pytest.mark.parametrize("is_established", [False, True])
@pytest.mark.parametrize("is_answered", [False, True])
def test_a_forward_is_refused_as_unsent_only_if_it_was_not_sent(is_established, is_answered):
    watched, request = Watched(), forward(1)
    watched.contract.forward_begins(request, Connection(is_established=is_established))
    if is_answered:
        watched.contract.is_answered(request.message, request.message)
    watched.contract.on_response(request)
    is_wrong = is_established and not is_answered
    assert watched.broken == (["UnsentReachedNobody"] if is_wrong else [])


def test_every_violation_has_its_sentence():
    assert len(SENTENCES) > 3
    assert all(sentence.endswith(".") for sentence in SENTENCES.values())


@pytest.mark.simulation
def test_the_ports_of_a_process_report_what_they_see(tmp_path, monkeypatch):
    """A shell without barriers is noticed in the first election."""
    monkeypatch.setattr(effect_executor, "BARRIERS", frozenset())
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=1, directory=tmp_path)
    )

    async def main():
        await cluster.start()
        await cluster.scope.sleep(2 * SECOND_NS)

    with pytest.raises(Exception, match="BarriersHold"):
        cluster.run(main())


def test_a_connection_that_carries_fetches_and_other_requests_is_found(tmp_path, monkeypatch):
    lanes = "kraftproof.node.shell.peer_lanes._FETCHES"
    monkeypatch.setattr(lanes, frozenset())
    nodes = nodes_of(controller=3, broker=1)
    cluster = SimulatedCluster(ClusterOptions(nodes=nodes, seed=2, directory=tmp_path))

    async def main():
        await cluster.start()
        await cluster.scope.sleep(60 * SECOND_NS)

    with pytest.raises(InvariantViolatedError):
        cluster.run(main())
    assert {violation.invariant for violation in cluster.violations} == {"FetchesGoAlone"}


def enveloped():
    effect = replace(
        forward(1),
        client_host="10.1.2.3",
        client_id="admin",
        principal=Principal(type="User", name="alice"),
    )
    return Outgoing(message=effect.message, version=effect.version, forward=effect)


@pytest.mark.requirement("590-06")
@pytest.mark.parametrize("transport", [InMemoryTransport(), CodecTransport()])
def test_a_request_in_an_envelope_arrives_as_its_clients(transport):
    watched, outgoing = Watched(), enveloped()
    arrived = transport.request(outgoing)()
    watched.contract.has_arrived(outgoing, arrived)
    assert watched.broken == []
    changes = {
        "client_host": "127.0.0.2",
        "client_id": "node-4",
        "principal": ANONYMOUS,
        "version": arrived.version - 1,
    }
    for number, (field, value) in enumerate(changes.items(), start=1):
        watched.contract.has_arrived(outgoing, replace(arrived, **{field: value}))
        assert watched.broken == ["EnvelopesAreOpened"] * number
