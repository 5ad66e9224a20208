"""The walk over a node finds its tables, whatever attribute holds them."""

from collections import deque
from random import Random

from kraftproof.cluster.simulated.node.table_sizes import table_sizes
from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Instant, NodeId
from kraftproof.node.core.node import Node
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.replicas import Replicas
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.wire.messages import vote_request

NOW = Instant(monotonic=0, wall=0)


def test_a_node_shows_its_tables_but_not_its_log_and_image() -> None:
    config = NodeConfig(
        node_id=NodeId(1),
        cluster_id="c",
        is_controller=True,
        is_broker=True,
        voters=(),
        endpoints=(),
    )
    node = Node(config, QuorumState(), (), Random(0), NOW)
    names = {name for name, _ in table_sizes(node)}
    assert {"Outbox.continuations", "Forwarder.waiting", "FetchServer.waiting"} <= names
    assert not any(name.startswith(("Log.", "MetadataImage.", "NodeConfig.")) for name in names)


def test_entries_are_counted() -> None:
    outbox = Outbox()
    for _ in range(3):
        outbox.send(NodeId(2), vote_request.VoteRequest(), 1, 1, lambda _answer, _now: None)
    assert dict(table_sizes(outbox))["Outbox.continuations"] == 3


def test_objects_in_tables_and_in_values_are_looked_into() -> None:
    class Holder:
        def __init__(self, held: object) -> None:
            self.held = held

    Holder.__module__ = "kraftproof.node.core.test"
    replicas = Replicas([NodeId(2)], 0, 0)
    leader = Leader(epoch=1, start_offset=0, replicas=replicas, announcement=Holder(()))
    sizes = list(table_sizes(Holder({1: Holder(deque([leader, leader]))})))
    assert ("Holder.held", 1) in sizes
    assert ("Holder.held", 2) in sizes
    assert sizes.count(("Replicas.voters", 1)) == 1
