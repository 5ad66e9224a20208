"""Some answers between nodes arrive as errors or incomplete; clients get what was sent."""

from random import Random

import pytest

from kraftproof.cluster.simulated.network.failed_answers import SHARE, FailedAnswers
from kraftproof.node.wire.messages import (
    begin_quorum_epoch_response,
    broker_heartbeat_response,
    broker_registration_response,
    create_topics_request,
    end_quorum_epoch_response,
    envelope_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_response,
    metadata_response,
    vote_request,
    vote_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from tests.cluster.simulated.network.test_network import ASKED, Rig

BATCHES = tuple(
    Batch(base_offset=offset, epoch=1, timestamp_ms=0, records=(records.NoOpRecord(),))
    for offset in range(2)
)
FETCHED = fetch_response.FetchResponse(
    responses=(
        fetch_response.FetchableTopicResponse(
            partitions=(fetch_response.PartitionData(records=BATCHES, high_watermark=2),)
        ),
    )
)
SLICE = fetch_snapshot_response.FetchSnapshotResponse(
    topics=(
        fetch_snapshot_response.TopicSnapshot(
            partitions=(
                fetch_snapshot_response.PartitionSnapshot(size=9, unaligned_records=b"123"),
            )
        ),
    )
)
VOTED = vote_response.VoteResponse(
    topics=(vote_response.TopicData(partitions=(vote_response.PartitionData(vote_granted=True),)),)
)


@pytest.mark.parametrize(
    "answer",
    [
        FETCHED,
        SLICE,
        VOTED,
        begin_quorum_epoch_response.BeginQuorumEpochResponse(
            topics=(begin_quorum_epoch_response.TopicData(),)
        ),
        end_quorum_epoch_response.EndQuorumEpochResponse(
            topics=(end_quorum_epoch_response.TopicData(),)
        ),
        broker_registration_response.BrokerRegistrationResponse(broker_epoch=7),
        broker_heartbeat_response.BrokerHeartbeatResponse(is_caught_up=True),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_a_failed_answer_is_of_the_same_type_and_is_no_success(answer) -> None:
    failed = FailedAnswers(Random(1), 1.0)
    changed = [failed.changed(answer) for _ in range(50)]
    assert {type(one) for one in changed} == {type(answer)}
    assert answer not in changed
    assert len(set(map(str, changed))) > 3


def test_no_failed_answer_grants_a_vote_or_holds_all_records() -> None:
    failed = FailedAnswers(Random(1), 1.0)
    assert not any("vote_granted=True" in str(failed.changed(VOTED)) for _ in range(50))
    for _ in range(50):
        answer = failed.changed(FETCHED)
        for topic in answer.responses:
            assert all(BATCHES[0] not in (part.records or ()) for part in topic.partitions)


def test_other_answers_and_other_runs_stay_as_they_are() -> None:
    answer = metadata_response.MetadataResponse(cluster_id="c")
    assert FailedAnswers(Random(1), 1.0).changed(answer) is answer
    assert FailedAnswers(Random(1), 0.0).changed(FETCHED) is FETCHED
    drawn = [FailedAnswers.draw(Random(seed)) for seed in range(1000)]
    assert abs(sum(one is not None for one in drawn) - 1000 * SHARE) < 50


class EveryAnswer:
    """Marks each answer that passes, and refuses no request."""

    def refusal(self, request, *, is_forwarded):
        return None

    def changed(self, message):
        return metadata_response.MetadataResponse(cluster_id="changed")


@pytest.mark.parametrize(("source", "cluster_id"), [(1, "changed"), (0, "c")])
def test_clients_get_the_answers_of_the_servers(source, cluster_id) -> None:
    rig = Rig()
    rig.links.failed_answers = EveryAnswer()
    channel, heard = rig.connect(source), []
    channel.send(ASKED, 1_000_000_000, lambda answer: heard.append(answer.cluster_id))
    rig.wait(1_000)
    assert heard == [cluster_id]
    rig.links.heal_all()
    assert rig.links.failed_answers is None


@pytest.mark.parametrize(
    ("request_type", "is_forwarded", "answer_type"),
    [
        (vote_request.VoteRequest, False, vote_response.VoteResponse),
        (fetch_request.FetchRequest, False, fetch_response.FetchResponse),
        (create_topics_request.CreateTopicsRequest, True, envelope_response.EnvelopeResponse),
    ],
)
def test_a_refusal_is_an_error_of_the_right_type(request_type, is_forwarded, answer_type) -> None:
    failed = FailedAnswers(Random(1), 1.0)
    refusals = [failed.refusal(request_type(), is_forwarded=is_forwarded) for _ in range(20)]
    assert {type(refusal) for refusal in refusals} == {answer_type}
    assert all(refusal.error_code for refusal in refusals)
    assert FailedAnswers(Random(1), 0.0).refusal(request_type(), is_forwarded=True) is None


def test_a_refused_request_is_not_executed() -> None:
    class EveryRequest:
        def refusal(self, request, *, is_forwarded):
            return metadata_response.MetadataResponse(cluster_id="refused")

        def changed(self, message):
            return message

    rig = Rig()
    rig.links.failed_answers = EveryRequest()
    channel, heard = rig.connect(1), []
    channel.send(ASKED, 1_000_000_000, lambda answer: heard.append(answer.cluster_id))
    rig.wait(1_000)
    assert (heard, rig.server.calls) == (["refused"], [])
