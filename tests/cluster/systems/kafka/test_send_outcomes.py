"""The outcome of a refused `send`: `fail` only if the broker surely appended no record.

Against a server that leads a partition and answers each Produce with one error code.
"""

from random import Random

import pytest

from kraftproof.cluster.systems.apache_kafka.errors import ERRORS as KAFKA
from kraftproof.cluster.systems.kafka import log_requests as requests
from kraftproof.cluster.systems.kafka.logs import LogClient
from kraftproof.cluster.systems.reference.errors import ERRORS as REFERENCE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_response, produce_response
from tests.support.prepared_broker import completion

PRODUCE_KEY, METADATA_KEY = 0, 3
KEY = "topic-0"
NOT_LEADER, UNKNOWN = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
TOO_FEW = ErrorCode.NOT_ENOUGH_REPLICAS
TOO_FEW_AFTER = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def answers(code):
    partition = metadata_response.MetadataResponsePartition(partition_index=0, leader_id=1)
    topic = metadata_response.MetadataResponseTopic(name="topic", partitions=(partition,))
    result = produce_response.PartitionProduceResponse(index=0, error_code=code, base_offset=5)
    produced = produce_response.TopicProduceResponse(name="topic", partition_responses=(result,))
    return {
        METADATA_KEY: metadata_response.MetadataResponse(topics=(topic,)),
        PRODUCE_KEY: produce_response.ProduceResponse(responses=(produced,)),
    }


def completion_of(errors, acks, code):
    """The completion of one send that is answered with an error code."""
    value = {"value": 7, "acks": acks, "idempotent": False}
    return completion(
        lambda cluster: LogClient(cluster, errors, Random(1)), answers(code), "send", KEY, value
    )


@pytest.mark.parametrize(
    ("errors", "acks", "code", "outcome"),
    [
        (REFERENCE, 1, NOT_LEADER, "info"),
        (REFERENCE, -1, NOT_LEADER, "info"),
        (REFERENCE, 1, UNKNOWN, "fail"),
        (REFERENCE, -1, UNKNOWN, "info"),
        (KAFKA, 1, NOT_LEADER, "fail"),
        (KAFKA, -1, NOT_LEADER, "info"),
        (KAFKA, 1, UNKNOWN, "fail"),
        (KAFKA, -1, UNKNOWN, "info"),
        *((errors, acks, TOO_FEW, "fail") for errors in (REFERENCE, KAFKA) for acks in (1, -1)),
        *((errors, -1, TOO_FEW_AFTER, "info") for errors in (REFERENCE, KAFKA)),
        (REFERENCE, 1, ErrorCode.KAFKA_STORAGE_ERROR, "info"),
        (REFERENCE, 1, ErrorCode.REQUEST_TIMED_OUT, "info"),
        (REFERENCE, -1, ErrorCode.NONE, "ok"),
    ],
)
def test_a_refusal_is_a_failure_only_before_every_append(errors, acks, code, outcome):
    found = completion_of(errors, acks, code)
    assert found.outcome.value == outcome
    assert found.connected == (outcome != "info")


def test_the_names_of_both_kinds_of_send_are_in_the_tables():
    for errors in (REFERENCE, KAFKA):
        assert {"send", requests.SEND_TO_LEADER} <= set(errors.refusals)
