"""A controller whose answers about the quorum are judged."""

from kraftproof.cluster.simulated.invariants.quorum.evidence import QuorumEvidence
from kraftproof.cluster.simulated.invariants.quorum.quorum_answers import DescribeQuorumIsAccurate
from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_cluster_request,
    describe_quorum_request,
    describe_quorum_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness, fetch

QUESTION = describe_quorum_request.DescribeQuorumRequest()
CLUSTER = describe_cluster_request.DescribeClusterRequest(endpoint_type=2)
LOG_END, COMMITTED = 5, 3


def replica(replica_id, end, fetched=100, caught_up=-1):
    return describe_quorum_response.ReplicaState(
        replica_id=replica_id,
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=caught_up,
    )


OURS, BEHIND, UNHEARD = replica(1, LOG_END, 100, 100), replica(2, COMMITTED), replica(3, -1, -1)
TOLD = describe_quorum_response.PartitionData(
    leader_id=1,
    leader_epoch=7,
    high_watermark=COMMITTED,
    current_voters=(OURS, BEHIND, UNHEARD),
    observers=(replica(4, COMMITTED),),
)
REFUSED = describe_quorum_response.PartitionData(
    error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER, leader_id=2, leader_epoch=7
)


def quorum(partition, *, nodes=(), topic="__cluster_metadata"):
    topics = (describe_quorum_response.TopicData(topic_name=topic, partitions=(partition,)),)
    listed = tuple(describe_quorum_response.Node(node_id=node_id) for node_id in nodes)
    return describe_quorum_response.DescribeQuorumResponse(topics=topics, nodes=listed)


class Controller:
    """Controller 1 of three, with five records of which three have committed."""

    def __init__(self, config=CONFIG):
        evidence = QuorumEvidence(config)
        self.harness = MonitorHarness(evidence, DescribeQuorumIsAccurate(config, evidence))
        self.harness.now_ns = 100_000_000
        self.process = self.harness.process(1)

    def wins(self, epoch):
        self.process.persists(epoch=epoch, voted_for=1, leader=1)
        return self

    def appends(self, records):
        for _ in range(records):
            self.process.appends(epoch=7)
        return self

    def leads(self):
        self.wins(7).appends(LOG_END)
        for replica_id in (2, 4):
            self.process.receives(fetch(replica_id, COMMITTED), version=FETCH_VERSION)
        self.process.leads(7, high_watermark=COMMITTED, log_end=LOG_END)
        return self

    def follows(self):
        self.appends(LOG_END)
        self.process.moves(epoch=7, leader=2, high_watermark=COMMITTED, log_end=LOG_END)
        return self

    def says(self, answer, request=QUESTION, **options):
        self.process.replies(self.process.receives(request, **options), answer)
        return self.harness.reported
