"""An answer that lacks what was asked for is no crash of the client, and no observation."""

from random import Random

import pytest

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.systems.apache_kafka.clients import TopicsClient
from kraftproof.cluster.systems.apache_kafka.errors import ERRORS
from kraftproof.cluster.systems.kafka.logs import LogClient
from kraftproof.node.wire.messages import (
    create_topics_response,
    delete_topics_response,
    metadata_response,
    produce_response,
)
from tests.support.prepared_broker import completion

PRODUCE_KEY, METADATA_KEY, CREATE_KEY, DELETE_KEY = 0, 3, 19, 20
LED = metadata_response.MetadataResponsePartition(partition_index=0, leader_id=1)
TOPIC = metadata_response.MetadataResponseTopic(name="topic", partitions=(LED,))
KNOWN = metadata_response.MetadataResponse(topics=(TOPIC,))
EMPTY = {
    METADATA_KEY: metadata_response.MetadataResponse(),
    CREATE_KEY: create_topics_response.CreateTopicsResponse(),
    DELETE_KEY: delete_topics_response.DeleteTopicsResponse(),
    PRODUCE_KEY: produce_response.ProduceResponse(),
}
LACKS = "the answer lacks the part that was asked for"
CREATION = {"partitions": 1, "factor": 1, "configs": {}}


def topics(cluster):
    return TopicsClient(cluster, Random(1))


def log(cluster):
    return LogClient(cluster, ERRORS, Random(1))


@pytest.mark.parametrize(
    ("f", "value", "outcome"),
    [
        ("describe", {"id": "AAAAAAAAAAAAAAAAAAAAAQ"}, "fail"),
        ("create", CREATION, "info"),
        ("delete", {"by": "name"}, "info"),
    ],
)
def test_an_answer_without_the_topic_leaves_the_outcome_open(f, value, outcome):
    found = completion(topics, EMPTY, f, "topic", value)
    assert found.outcome.value == outcome
    assert (found.error, found.connected) == (LACKS, False)


def test_an_answer_without_the_partition_leaves_the_outcome_of_a_send_open():
    value = {"value": 7, "acks": -1, "idempotent": False}
    with pytest.raises(OutcomeUnknown, match=LACKS):
        completion(log, EMPTY | {METADATA_KEY: KNOWN}, "send", "topic-0", value)


def test_a_log_client_without_a_known_leader_has_sent_nothing():
    value = {"value": 7, "acks": -1, "idempotent": False}
    with pytest.raises(ConnectionFailed, match=f"no leader known: {LACKS}"):
        completion(log, EMPTY, "send", "topic-0", value)
