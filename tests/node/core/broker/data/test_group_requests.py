"""OffsetFetch: nothing is committed here, and a broker with groups may know better. Heartbeats."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import consumer_group_heartbeat_request, offset_fetch_request
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_world import DataWorld

Request = offset_fetch_request.OffsetFetchRequest
OLDEST, NEWEST = served_versions(on_controller_listener=False)[Request.API_KEY]


def ask(world, version):
    if version >= 8:
        topic = offset_fetch_request.OffsetFetchRequestTopics(name="t", partition_indexes=(0, 3))
        groups = tuple(
            offset_fetch_request.OffsetFetchRequestGroup(group_id=name, topics=topics)
            for name, topics in (("g", (topic,)), ("h", None))
        )
        request = Request(groups=groups)
    else:
        topic = offset_fetch_request.OffsetFetchRequestTopic(name="t", partition_indexes=(0, 3))
        request = Request(group_id="g", topics=(topic,))
    token = world.request(world.brokers[1], request, version)
    world.settle()
    return world.brokers[1].answers[token]


@pytest.mark.parametrize("version", range(OLDEST, NEWEST + 1))
def test_nothing_is_committed(version):
    answer = ask(DataWorld(), version)
    found = answer
    if version >= 8:
        assert [group.group_id for group in answer.groups] == ["g", "h"]
        found, every = answer.groups
        assert (every.topics, every.error_code) == ((), ErrorCode.NONE)
    assert found.error_code == ErrorCode.NONE
    ((first, second),) = [topic.partitions for topic in found.topics]
    assert (first.partition_index, second.partition_index) == (0, 3)
    for partition in (first, second):
        assert (partition.committed_offset, partition.committed_leader_epoch) == (-1, -1)
        assert (partition.metadata, partition.error_code) == ("", ErrorCode.NONE)


def test_another_broker_may_have_committed_offsets():
    world = DataWorld()
    feature = records.BrokerFeature(name="group.version", max_supported_version=1)
    kafka = replace(world.registration(3, 99, incarnation=7), features=(feature,))
    world.write(kafka)
    world.publish()
    assert ask(world, 7).error_code == ErrorCode.NOT_COORDINATOR
    assert ask(world, 7).topics == ()
    ((first, second),) = [topic.partitions for topic in ask(world, 1).topics]
    assert {first.error_code, second.error_code} == {ErrorCode.NOT_COORDINATOR}
    assert {group.error_code for group in ask(world, 8).groups} == {ErrorCode.NOT_COORDINATOR}


@pytest.mark.parametrize("version", [0, 1])
def test_a_heartbeat_of_a_member_is_refused_for_good(version):
    world = DataWorld()
    module = consumer_group_heartbeat_request
    request = module.ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=0)
    token = world.request(world.brokers[1], request, version)
    world.settle()
    answer = world.brokers[1].answers[token]
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert answer.error_message == "this broker has no groups"
