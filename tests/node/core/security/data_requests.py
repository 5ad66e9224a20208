"""Requests about the data of topic t, for the cases of rights_cases.py. No tests here."""

from kraftproof.node.wire import messages as wire
from kraftproof.node.wire.messages import Message


def fetch() -> Message:
    module = wire.fetch_request
    part = module.FetchPartition(partition=0, partition_max_bytes=1000)
    topic = module.FetchTopic(topic="t", partitions=(part,))
    return module.FetchRequest(
        replica_id=-1, max_wait_ms=0, min_bytes=1, session_epoch=-1, topics=(topic,)
    )


def offsets() -> Message:
    module = wire.list_offsets_request
    part = module.ListOffsetsPartition(partition_index=0, timestamp=-1)
    topic = module.ListOffsetsTopic(name="t", partitions=(part,))
    return module.ListOffsetsRequest(replica_id=-1, topics=(topic,))


def epochs() -> Message:
    module = wire.offset_for_leader_epoch_request
    part = module.OffsetForLeaderPartition(partition=0, leader_epoch=0)
    topic = module.OffsetForLeaderTopic(topic="t", partitions=(part,))
    return module.OffsetForLeaderEpochRequest(topics=(topic,))


def producers() -> Message:
    module = wire.describe_producers_request
    topic = module.TopicRequest(name="t", partition_indexes=(0,))
    return module.DescribeProducersRequest(topics=(topic,))


def committed() -> Message:
    module = wire.offset_fetch_request
    topic = module.OffsetFetchRequestTopic(name="t", partition_indexes=(0,))
    return module.OffsetFetchRequest(group_id="g", topics=(topic,))


def records_deletion() -> Message:
    module = wire.delete_records_request
    part = module.DeleteRecordsPartition(partition_index=0, offset=0)
    topic = module.DeleteRecordsTopic(name="t", partitions=(part,))
    return module.DeleteRecordsRequest(topics=(topic,), timeout_ms=1000)


def produce() -> Message:
    module = wire.produce_request
    part = module.PartitionProduceData(index=0, records=b"")
    topic = module.TopicProduceData(name="t", partition_data=(part,))
    return module.ProduceRequest(acks=-1, timeout_ms=1000, topic_data=(topic,))
