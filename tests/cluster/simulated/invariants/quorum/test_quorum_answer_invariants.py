"""What a controller says of its quorum goes red wherever its status differs, and only there."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from kraftproof.cluster.simulated.invariants.quorum.quorum_answers import (
    ReportedHighWatermarkNeverFalls,
)
from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_cluster_response,
    describe_quorum_response,
    fetch_request,
    fetch_response,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, MonitorHarness, fetch
from tests.cluster.simulated.invariants.quorum.quorum_answer_case import (
    BEHIND,
    CLUSTER,
    COMMITTED,
    LOG_END,
    OURS,
    QUESTION,
    REFUSED,
    TOLD,
    UNHEARD,
    Controller,
    quorum,
    replica,
)


def test_a_leader_that_tells_what_it_is():
    assert Controller().leads().says(quorum(TOLD)) == []


def fetch_answer(high_watermark, *, epoch=7, error=ErrorCode.NONE):
    partition = fetch_response.PartitionData(
        error_code=error,
        high_watermark=high_watermark,
        current_leader=fetch_response.LeaderIdAndEpoch(leader_id=2, leader_epoch=epoch),
    )
    topic = fetch_response.FetchableTopicResponse(partitions=(partition,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.requirement("595-27")
@pytest.mark.parametrize(
    ("answer", "falls"),
    [
        (fetch_answer(COMMITTED - 1), True),
        (fetch_answer(0), True),
        (fetch_answer(-1), False),
        (fetch_answer(COMMITTED), False),
        (fetch_answer(COMMITTED + 1), False),
        (fetch_answer(1, epoch=6), False),
        (fetch_answer(1, error=ErrorCode.FENCED_LEADER_EPOCH), False),
    ],
)
def test_no_answer_of_its_leader_tells_a_replica_less_than_it_knows(answer, falls):
    harness = MonitorHarness(ReportedHighWatermarkNeverFalls())
    process = harness.process(1)
    process.moves(epoch=7, leader=2, high_watermark=COMMITTED, log_end=LOG_END)
    process.hears(2, fetch_request.FetchRequest(), answer)
    assert bool(harness.reported) == falls


@pytest.mark.requirement("595-64")
def test_a_leader_that_has_committed_nothing_of_its_own_states_no_high_watermark():
    controller = Controller().appends(LOG_END).wins(8)
    controller.process.leads(8, high_watermark=COMMITTED, log_end=LOG_END)
    behind, observer = replica(2, -1, -1), replica(4, -1, -1)
    voters = (OURS, behind, UNHEARD)
    told = changed(TOLD, leader_epoch=8, current_voters=voters, observers=(observer,))
    assert controller.says(quorum(changed(told, high_watermark=-1))) == []
    assert controller.says(quorum(told)) != []


def test_a_follower_names_the_leader_and_refuses():
    assert Controller().follows().says(quorum(REFUSED)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"high_watermark": LOG_END}, id="the log's end as high watermark"),
        pytest.param({"high_watermark": COMMITTED - 1}, id="an older high watermark"),
        pytest.param({"leader_epoch": 6}, id="another epoch"),
        pytest.param({"leader_id": 2}, id="another leader"),
        pytest.param({"current_voters": (OURS, BEHIND)}, id="a voter left out"),
        pytest.param({"current_voters": (OURS, BEHIND, BEHIND, UNHEARD)}, id="a voter twice"),
        pytest.param({"observers": (BEHIND,)}, id="a voter as observer"),
        pytest.param(
            {"current_voters": (replica(1, COMMITTED, 100, 100), BEHIND, UNHEARD)},
            id="its own log shorter",
        ),
        pytest.param(
            {"current_voters": (OURS, replica(2, LOG_END + 1), UNHEARD)}, id="a voter ahead"
        ),
        pytest.param(
            {"current_voters": (OURS, replica(2, COMMITTED - 1), UNHEARD)}, id="a voter behind"
        ),
        pytest.param({"observers": (replica(4, LOG_END),)}, id="an observer ahead"),
        pytest.param(
            {"current_voters": (OURS, replica(2, COMMITTED, -1), UNHEARD)}, id="it never fetched"
        ),
        pytest.param(
            {"current_voters": (OURS, BEHIND, replica(3, -1, -1, 5))}, id="it never caught up"
        ),
        pytest.param({"error_code": ErrorCode.NOT_LEADER_OR_FOLLOWER}, id="a leader refuses"),
    ],
)
def test_a_leader_that_tells_something_else(wrong):
    assert len(Controller().leads().says(quorum(changed(TOLD, **wrong)))) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"error_code": ErrorCode.NONE}, id="it answers as a leader"),
        pytest.param({"leader_id": 3}, id="another leader"),
        pytest.param({"leader_epoch": 8}, id="another epoch"),
        pytest.param({"high_watermark": COMMITTED}, id="what has committed"),
        pytest.param({"observers": (replica(4, COMMITTED),)}, id="replicas"),
    ],
)
def test_a_follower_that_tells_something_else(wrong):
    assert len(Controller().follows().says(quorum(changed(REFUSED, **wrong)))) == 1


def test_a_leader_that_resigns_at_the_question_refuses():
    controller = Controller().leads()
    event = controller.process.receives(QUESTION)
    controller.process.moves(role="resigned", leader=-1)
    controller.process.replies(event, quorum(changed(REFUSED, leader_id=-1)))
    assert controller.harness.reported == []
    controller.process.replies(controller.process.receives(QUESTION), quorum(TOLD))
    assert controller.harness.reported != []


def test_the_oldest_version_has_no_times():
    timeless = changed(
        TOLD, current_voters=(replica(1, LOG_END, -1), BEHIND, UNHEARD), observers=()
    )
    assert Controller().leads().says(quorum(timeless), version=0) == []
    assert len(Controller().leads().says(quorum(timeless), version=1)) == 1


@pytest.mark.parametrize(("nodes", "reported"), [((1, 2, 3), 0), ((1, 2), 1), ((), 1)])
def test_newer_versions_list_the_voters_with_their_listeners(nodes, reported):
    answer = quorum(TOLD, nodes=nodes)
    assert len(Controller().leads().says(answer, version=2)) == reported


def test_another_log_is_not_judged():
    unknown = describe_quorum_response.PartitionData(
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert Controller().leads().says(quorum(unknown, topic="t")) == []


def test_a_broker_passes_on_what_a_controller_has_said():
    controller = Controller().follows()
    assert controller.says(quorum(TOLD), on_controller_listener=False) == []


@pytest.mark.parametrize(
    ("leader", "controllers", "reported"),
    [(2, (1, 2, 3), 0), (1, (1, 2, 3), 1), (2, (1, 2), 1), (2, (1, 2, 3, 4), 1)],
)
def test_the_controllers_of_a_cluster(leader, controllers, reported):
    listed = tuple(
        describe_cluster_response.DescribeClusterBroker(broker_id=node_id)
        for node_id in controllers
    )
    answer = describe_cluster_response.DescribeClusterResponse(
        controller_id=leader, brokers=listed, endpoint_type=2
    )
    assert len(Controller().follows().says(answer, CLUSTER)) == reported


@pytest.mark.parametrize(("others", "reported"), [(998, 1), (1_100, 0)])
def test_a_leader_may_forget_an_observer_among_very_many(others, reported):
    controller = Controller().leads()
    for observer in range(10_000, 10_000 + others):
        controller.process.receives(fetch(observer, 1 << 40), version=FETCH_VERSION)
    forgotten = changed(TOLD, observers=(replica(4, -1),))
    assert len(controller.says(quorum(forgotten))) == reported
    assert len(controller.says(quorum(changed(TOLD, current_voters=(OURS,))))) == reported + 1


def test_a_leader_may_forget_no_voter():
    controller = Controller().leads()
    for observer in range(10_000, 11_100):
        controller.process.receives(fetch(observer, 1 << 40), version=FETCH_VERSION)
    behind = replica(2, -1)
    told = changed(TOLD, current_voters=(OURS, behind, UNHEARD))
    assert len(controller.says(quorum(told))) == 1


ADDRESSES = tuple((node_id, f"host-{node_id}", 9092) for node_id in (1, 2, 3))
WITH_ADDRESSES = replace(CONFIG, voter_addresses=ADDRESSES, controller_listener="QUORUM")


@pytest.mark.parametrize(
    ("name", "port", "reported"), [("QUORUM", 9092, 0), ("OTHER", 9092, 1), ("QUORUM", 9093, 1)]
)
def test_newer_versions_list_the_listeners_of_the_configuration(name, port, reported):
    listed = tuple(
        describe_quorum_response.Node(
            node_id=node_id,
            listeners=(describe_quorum_response.Listener(name=name, host=host, port=port),),
        )
        for node_id, host, _ in ADDRESSES
    )
    answer = changed(quorum(TOLD), nodes=listed)
    controller = Controller(WITH_ADDRESSES).leads()
    assert len(controller.says(answer, version=2)) == reported


@pytest.mark.parametrize(("port", "reported"), [(9092, 0), (9093, 1)])
def test_the_addresses_of_the_controllers_are_those_of_the_configuration(port, reported):
    listed = tuple(
        describe_cluster_response.DescribeClusterBroker(broker_id=node_id, host=host, port=port)
        for node_id, host, _ in ADDRESSES
    )
    answer = describe_cluster_response.DescribeClusterResponse(
        controller_id=2, brokers=listed, endpoint_type=2
    )
    controller = Controller(WITH_ADDRESSES).follows()
    assert len(controller.says(answer, CLUSTER)) == reported
