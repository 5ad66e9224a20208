"""Requests and answers about partition 0 of the topic of PartitionCase."""

from kraftproof.node.wire.messages import (
    alter_partition_request,
    alter_partition_response,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from tests.cluster.simulated.invariants.partition_case import TOPIC


def fetch(
    offset=0, *, epoch=0, last_epoch=-1, start=0, replica=2, broker_epoch=-1, wait_ms=0, most=999
):
    part = fetch_request.FetchPartition(
        partition=0,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        last_fetched_epoch=last_epoch,
        log_start_offset=start,
        partition_max_bytes=most,
    )
    topic = fetch_request.FetchTopic(topic="t", topic_id=TOPIC, partitions=(part,))
    state = fetch_request.ReplicaState(replica_id=replica, replica_epoch=broker_epoch)
    return fetch_request.FetchRequest(
        replica_id=replica,
        replica_state=state,
        max_wait_ms=wait_ms,
        min_bytes=1,
        max_bytes=9_999,
        topics=(topic,),
    )


def fetched(high_watermark, error=0, **fields):
    part = fetch_response.PartitionData(
        partition_index=0,
        error_code=error,
        **({"high_watermark": high_watermark, "last_stable_offset": high_watermark} | fields),
    )
    topic = fetch_response.FetchableTopicResponse(topic="t", topic_id=TOPIC, partitions=(part,))
    return fetch_response.FetchResponse(responses=(topic,))


def produce(data, *, timeout_ms):
    part = produce_request.PartitionProduceData(index=0, records=data)
    topic = produce_request.TopicProduceData(name="t", partition_data=(part,))
    return produce_request.ProduceRequest(acks=-1, timeout_ms=timeout_ms, topic_data=(topic,))


def written(base_offset, error=0, **fields):
    part = produce_response.PartitionProduceResponse(
        index=0, base_offset=base_offset, error_code=error, **fields
    )
    topic = produce_response.TopicProduceResponse(name="t", partition_responses=(part,))
    return produce_response.ProduceResponse(responses=(topic,))


def proposal(*members, partition_epoch=0, leader_epoch=0, broker_epoch=-1):
    part = alter_partition_request.PartitionData(
        partition_index=0,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
        new_isr_with_epochs=tuple(
            alter_partition_request.BrokerState(broker_id=each, broker_epoch=broker_epoch)
            for each in members
        ),
    )
    topic = alter_partition_request.TopicData(topic_id=TOPIC, partitions=(part,))
    return alter_partition_request.AlterPartitionRequest(broker_id=1, topics=(topic,))


def decided(*isr, error=0, partition_epoch=1):
    part = alter_partition_response.PartitionData(
        partition_index=0, error_code=error, isr=isr, partition_epoch=partition_epoch
    )
    topic = alter_partition_response.TopicData(topic_id=TOPIC, partitions=(part,))
    return alter_partition_response.AlterPartitionResponse(topics=(topic,))
