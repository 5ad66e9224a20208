"""The diagram of a run's last events: what it draws and leaves out; recording changes nothing."""

from types import SimpleNamespace

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.cluster.simulated.trace.diagram import WIDTH, draw
from kraftproof.cluster.simulated.trace.message_text import (
    api_of,
    format_batch,
    format_request,
    format_response,
)
from kraftproof.cluster.simulated.trace.recorder import Recorder
from kraftproof.cluster.simulated.trace.trace_events import Kind, State, TraceEvent
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    create_topics_request,
    create_topics_response,
    describe_quorum_request,
    fetch_request,
    fetch_response,
    metadata_request,
    vote_request,
    vote_response,
)
from kraftproof.node.wire.messages.generated.index import REQUESTS, RESPONSES
from tests.cluster.simulated.chaos import Chaos
from tests.cluster.simulated.invariants.invariant_harness import batch_of, broker, topic

MS = 1_000_000
UP = (State.UP, State.LEADS, State.PAUSED, State.DOWN)


def nodes(controllers=3, brokers=1):
    return ClusterOptions(
        nodes=nodes_of(controller=controllers, broker=brokers), seed=0, directory=None
    ).nodes


def event(kind, target, text="", *, at_ms=1, states=UP, **fields):
    time_ns = int(at_ms * MS)
    return TraceEvent(
        time_ns=time_ns, event=1, kind=kind, target=target, text=text, states=states, **fields
    )


def rows(*events, **options):
    """The lines below the heading, without the spaces that only align."""
    text = draw(events, nodes(), most=options.pop("most", 50), **options)
    return [" ".join(line.split()) for line in text.splitlines()[4:]]


def test_a_whole_diagram_is_drawn_so():
    text = draw(
        [
            event(Kind.REQUEST, 2, "log end 3@1", source=1, api="Vote", sent_ns=0, at_ms=0.5),
            event(Kind.RESPONSE, 1, "granted", source=2, api="Vote", at_ms=1.25),
            event(Kind.STEP, 1, "leader, epoch 2", at_ms=1.25),
            event(Kind.LOST, 3, "", source=1, api="Fetch", sent_ns=0, at_ms=1001),
            event(Kind.FAULT, 1, "cut 1>2", also=(2,), at_ms=1002),
            event(Kind.REQUEST, 4, source=0, api="Metadata", at_ms=1003),
            event(Kind.VIOLATION, 2, "ElectionSafety", at_ms=1004),
        ],
        nodes(),
        most=10,
    )
    assert text.splitlines()[3:] == [
        "        ms client   c1     c2     c3     b4",
        "     0.500   │      │─────▶┃      ┊          Vote: log end 3@1",
        "     1.250   │      │◀╌╌╌╌╌┃      ┊          Vote → granted",
        "     1.250   │      ●      ┃      ┊          1 leader, epoch 2",
        "             │      │      ┃      ┊          ⋮ 999 ms",
        "  1001.000   │      │───✗  ┃      ┊          Fetch to 3, no answer  [sent at 0.000]",
        "  1002.000   │      ✗      ✗      ┊          cut 1>2",
        "  1003.000   │──────┼──────┼──────┼─────▶    Metadata",
        "  1004.000   │      │      !      ┊          ElectionSafety",
    ]


def test_a_poll_that_says_the_same_again_is_left_out():
    def asked(api, text, target=2):
        return event(Kind.REQUEST, target, text, source=1, api=api)

    polls = [asked("Fetch", "from 3"), asked("Fetch", "from 3"), asked("Fetch", "from 3", 3)]
    shown = rows(*polls, asked("Fetch", "from 4"))
    assert [row.rsplit("Fetch: ")[1] for row in shown] == ["from 3", "from 3", "from 4"]
    assert len(rows(asked("Vote", "epoch 2"), asked("Vote", "epoch 2"))) == 2


def test_copying_by_brokers_is_seen_only_where_it_matters():
    copying = [
        event(Kind.REQUEST, 2, "from 3", source=4, api="Fetch"),
        event(Kind.STEP, 4, "appends 3@1 NoOp"),
        event(Kind.REQUEST, 2, "broker 4", source=4, api="BrokerHeartbeat"),
    ]
    assert len(rows(*copying)) == 1
    assert len(rows(*copying, concerned=(4,))) == 3


def test_a_name_picks_its_moments_beside_faults_and_elections():
    story = [
        event(Kind.STEP, 1, "appends 3@1 Topic topic-1"),
        event(Kind.STEP, 1, "appends 4@1 Topic topic-11"),
        event(Kind.STEP, 1, "leader, epoch 4"),
        event(Kind.FAULT, 1, "kill -9 node 1"),
        event(Kind.REQUEST, 1, "topic-1 (validate only)", source=0, api="CreateTopics"),
    ]
    shown = rows(*story, about="topic-1")
    assert len(shown) == 4
    assert not any("topic-11" in row for row in shown)


def test_only_the_last_moments_are_shown_and_no_line_is_wider_than_a_screen():
    story = [event(Kind.STEP, 1, f"step {number} " + "x" * 200) for number in range(9)]
    text = draw(story, nodes(5, 3), most=3)
    assert [f"step {number}" in text for number in range(9)] == [False] * 6 + [True] * 3
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert draw([], nodes(), most=3)


def test_messages_are_said_by_what_decides():
    data = vote_request.PartitionData(
        replica_epoch=4, replica_id=1, last_offset_epoch=1, last_offset=32
    )
    asked = vote_request.VoteRequest(topics=(vote_request.TopicData(partitions=(data,)),))
    assert (api_of(asked), format_request(asked)) == (
        "Vote",
        "epoch 4, candidate 1, log end 32@1",
    )
    said = vote_response.PartitionData(leader_epoch=4, vote_granted=True)
    voted = vote_response.VoteResponse(topics=(vote_response.TopicData(partitions=(said,)),))
    assert format_response(voted) == "granted, epoch 4"
    refused = vote_response.VoteResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    assert format_response(refused) == "INCONSISTENT_CLUSTER_ID"
    at = fetch_request.FetchPartition(fetch_offset=7, last_fetched_epoch=2, current_leader_epoch=3)
    fetch = fetch_request.FetchRequest(topics=(fetch_request.FetchTopic(partitions=(at,)),))
    assert format_request(fetch) == "from 7@2, epoch 3"
    diverging = fetch_response.PartitionData(
        high_watermark=5, diverging_epoch=fetch_response.EpochEndOffset(epoch=2, end_offset=6)
    )
    topics = (fetch_response.FetchableTopicResponse(partitions=(diverging,)),)
    assert format_response(fetch_response.FetchResponse(responses=topics)) == (
        "diverges after 6@2, HW 5"
    )
    beat = broker_heartbeat_request.BrokerHeartbeatRequest(
        broker_id=4, broker_epoch=9, current_metadata_offset=12, want_shut_down=True
    )
    assert format_request(beat) == "broker 4, epoch 9, at 12 wants to stop"
    names = tuple(create_topics_request.CreatableTopic(name=name) for name in "abcde")
    create = create_topics_request.CreateTopicsRequest(topics=names, validate_only=True)
    assert format_request(create) == "a, b, c +2 (validate only)"
    result = create_topics_response.CreatableTopicResult(name="a", error_code=36)
    response = create_topics_response.CreateTopicsResponse(topics=(result,))
    assert format_response(response) == "TOPIC_ALREADY_EXISTS, a"
    assert format_batch(batch_of(5, 2, topic(), broker(4, 9))) == "5-6@2 Topic t, RegisterBroker 4"


def test_every_message_can_be_said():
    """None of the classes lacks a field that the words are made of, however empty it is."""
    for schema in (*REQUESTS, *RESPONSES):
        message = schema.message()
        assert isinstance(format_request(message), str)
        assert isinstance(format_response(message), str)
    assert format_request(metadata_request.MetadataRequest()) == ""
    assert format_request(describe_quorum_request.DescribeQuorumRequest()) == ""


def recorded(tmp_path, seed, *, with_recorder):
    cluster = SimulatedCluster(
        ClusterOptions(
            nodes=nodes_of(controller=3, broker=2), seed=seed, directory=tmp_path, timeouts="chaos"
        )
    )
    recorder = Recorder(cluster.world) if with_recorder else SimpleNamespace(events=())
    chaos = Chaos(cluster, seed, 3.0)
    cluster.run(chaos.main())
    return (cluster.events, cluster.simulated_ns, tuple(chaos.answers)), recorder.events


@pytest.mark.simulation
@pytest.mark.parametrize("seed", [3, 4])
def test_a_recorder_sees_all_and_changes_nothing(tmp_path, seed):
    without, _ = recorded(tmp_path / "a", seed, with_recorder=False)
    within, events = recorded(tmp_path / "b", seed, with_recorder=True)
    assert without == within
    assert [one.event for one in events] == sorted(one.event for one in events)
    apis = {one.api for one in events}
    assert {"Vote", "Fetch", "BrokerHeartbeat", "CreateTopics", "BrokerRegistration"} <= apis
    asked = [one for one in events if one.kind is Kind.REQUEST]
    answered = [one for one in events if one.kind is Kind.RESPONSE]
    assert len(asked) > 100
    assert 0 < len(answered) <= len(asked)
    assert all(one.sent_ns is not None and one.sent_ns <= one.time_ns for one in asked + answered)
    assert any(one.text.startswith("leader, epoch") for one in events)
    assert {State.UP, State.LEADS} <= {state for one in events for state in one.states}
