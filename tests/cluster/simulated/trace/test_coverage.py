"""What a run has been through is told in cells of role, event and fault."""

from types import SimpleNamespace

import pytest

from kraftproof.cluster.simulated.trace.coverage import AT_START, NO_FAULT, Coverage
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received, Tick
from kraftproof.node.wire.messages.generated.vote_request import VoteRequest


class Process:
    """A node of which only the shown matters."""

    def __init__(self, coverage, node_id=1):
        self.node_id = node_id
        self.coverage = coverage
        coverage.on_started(self, QuorumState())

    def step(self, event, role_after):
        self.event = event
        self.status = SimpleNamespace(role=role_after)
        self.coverage.on_step(self)


@pytest.fixture
def coverage():
    return Coverage()


def vote():
    return Received(
        request=1,
        message=VoteRequest(),
        version=1,
        on_controller_listener=True,
        principal=None,
        client_host="",
        forwarded_by=None,
    )


def test_an_event_counts_in_the_role_in_which_it_came(coverage):
    node = Process(coverage)
    node.step(Tick(), "candidate")
    node.step(vote(), "voted")
    assert coverage.cells == {
        (AT_START, "Tick", NO_FAULT),
        ("candidate", "Received Vote", NO_FAULT),
    }


def test_it_counts_for_each_kind_of_fault_in_force(coverage):
    node = Process(coverage)
    coverage.fault_begins("pause")
    coverage.fault_begins("partition")
    coverage.fault_begins("partition")
    coverage.fault_ends("partition")
    node.step(Tick(), "follower")
    coverage.fault_ends("partition")
    coverage.fault_ends("pause")
    node.step(Tick(), "follower")
    assert coverage.cells == {
        (AT_START, "Tick", "pause"),
        (AT_START, "Tick", "partition"),
        ("follower", "Tick", NO_FAULT),
    }


def test_a_start_is_no_role(coverage):
    node = Process(coverage)
    node.step(None, "follower")
    coverage.on_started(node, QuorumState())
    node.step(None, "unattached")
    assert coverage.cells == {(AT_START, "start", NO_FAULT)}
