"""The versions of the requests between nodes follow the level of metadata.version (497-16)."""

import pytest

from kraftproof.node.core.effects import Send
from kraftproof.node.core.metadata.version import fetch_version, list_offsets_version
from kraftproof.node.wire.messages import alter_partition_request, fetch_request
from tests.support.node.data_world import TOPIC
from tests.support.node.directory_world import DirectoryWorld


def sent(world, kind):
    """The requests of a kind that broker 1 or 2 has sent, with their versions."""
    return [
        (effect.version, effect.message)
        for _, effect in world.effects
        if isinstance(effect, Send) and isinstance(effect.message, kind)
    ]


def run(world, for_ms):
    """Let time pass; the brokers follow the image."""
    for _ in range(for_ms // 200):
        world.run(200)
        world.publish()


@pytest.mark.requirement("497-16")
@pytest.mark.parametrize(("level", "version"), [(7, 2), (9, 2), (10, 3), (21, 3), (30, 3)])
def test_an_isr_shrinks_and_grows_in_the_version_of_the_level(level, version):
    world = DirectoryWorld(level=level)
    run(world, 400)
    world.kill(2)
    world.produce_to(1, 0, acks=1)
    run(world, 8_000)
    assert world.image.partitions[TOPIC][0].isr == (1,)
    world.resume(2)
    run(world, 2_000)
    assert set(world.image.partitions[TOPIC][0].isr) == {1, 2}
    proposals = sent(world, alter_partition_request.AlterPartitionRequest)
    assert {found for found, _ in proposals} == {version}
    for _, message in proposals:
        part = message.topics[0].partitions[0]
        assert bool(part.new_isr) == (version == 2)
        assert bool(part.new_isr_with_epochs) == (version == 3)


@pytest.mark.parametrize(
    ("level", "version"), [(7, 13), (9, 14), (10, 15), (19, 16), (21, 17), (27, 18), (30, 18)]
)
def test_a_follower_fetches_in_the_version_of_the_level(level, version):
    world = DirectoryWorld(level=level)
    token = world.produce_to(1, 0)
    world.run(300)
    assert world.produced(1, token).error_code == 0
    fetches = sent(world, fetch_request.FetchRequest)
    assert {found for found, _ in fetches} == {version}
    for _, message in fetches:
        ids = (message.replica_id, message.replica_state.replica_id)
        assert ids == ((2, -1) if version < 15 else (-1, 2))


def test_list_offsets_of_each_level():
    versions = [list_offsets_version(level) for level in (7, 8, 9, 20, 21, 24, 25, 28, 29, 30)]
    assert versions == [7, 7, 8, 8, 9, 9, 10, 10, 11, 11]
    assert fetch_version(20) == 16
