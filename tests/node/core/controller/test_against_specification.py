"""Random requests to the controller's decisions, each judged by the specification.

Both are written apart: checkers/kraft/specification knows nothing of the node. The requests are
those that random clients send in simulation, and ISRs that leaders propose.
"""

from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.specification import Specification
from kraftproof.cluster.systems.reference.requests import config_changes, partitions, quotas
from kraftproof.cluster.systems.reference.requests.vocabulary import LEGAL, Vocabulary
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.controller.brokers import shutdown_granted
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    elect_leaders_request,
    update_features_request,
)
from kraftproof.node.wire.records.metadata import NoOpRecord
from tests.node.core.controller.configs.asking import TOPIC, incremental, resource
from tests.node.core.controller.desk import (
    CLUSTER,
    Desk,
    creation,
    heartbeat,
    incarnation_id,
    registration,
)

Reassignments = alter_partition_reassignments_request.AlterPartitionReassignmentsRequest
BROKERS = (1, 2, 3, 4, 5)
UNCLEAN = "unclean.leader.election.enable"
REQUESTS_A_SEED = 150


def drawn(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    kind = random.choice(
        (proposal,) * 6
        + (beat,) * 5
        + (wish,) * 5
        + (config, assignment, unclean_election, feature, quota)
    )
    return kind(desk, random, vocabulary)


def wish(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    draw = random.choice(
        (partitions.reassignments,) * 4
        + (partitions.elections, partitions.growth, partitions.listing)
    )
    request = draw(random, vocabulary)
    if isinstance(
        request, alter_partition_reassignments_request.AlterPartitionReassignmentsRequest
    ):
        topics = tuple(
            replace(topic, name=random.choice(LEGAL[:4])) if random.random() < 0.8 else topic
            for topic in request.topics
        )
        request = replace(request, topics=topics)
    return request


def config(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    if random.random() < 0.4:
        value = random.choice(("true", "false"))
        return incremental(resource(TOPIC, random.choice(LEGAL[:3]), (UNCLEAN, value)))
    return random.choice((config_changes.incremental, config_changes.legacy))(random, vocabulary)


def beat(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    broker_id = random.choice(BROKERS)
    if shutdown_granted(desk.image.brokers[broker_id]):
        desk.incarnation += 1
        return registration(broker_id, desk.incarnation)
    return heartbeat(
        broker_id,
        desk.image.brokers[broker_id].epoch,
        want_fence=random.random() < 0.25,
        want_shut_down=random.random() < 0.04,
    )


def some_partition(desk: Desk, random: Random) -> Any:
    topics = desk.image.sorted_topics()
    return random.choice(desk.image.partitions_of(random.choice(topics).topic_id))


def proposal(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    module = alter_partition_request
    was = some_partition(desk, random)
    caller = was.leader if was.leader != NO_NODE and random.random() < 0.97 else 1
    able = [node for node in was.replicas if desk.image.may_lead(node)]
    isr = random.sample(able, random.randint(0, len(able))) if random.random() < 0.6 else able
    members = tuple(
        module.BrokerState(
            broker_id=node,
            broker_epoch=random.choice((-1, *(desk.image.brokers[node].epoch,) * 9, 1)),
        )
        for node in dict.fromkeys((*isr, *((caller,) if random.random() < 0.97 else ())))
    )
    entry = module.PartitionData(
        partition_index=was.index,
        leader_epoch=was.leader_epoch + random.choice((*(0,) * 20, -1, 1)),
        partition_epoch=was.partition_epoch + random.choice((*(0,) * 20, -1, 1)),
        leader_recovery_state=random.choice((*(0,) * 9, was.recovery_state, 2)),
        new_isr_with_epochs=members,
    )
    topic = module.TopicData(topic_id=was.topic_id, partitions=(entry,) * random.choice((1, 1, 2)))
    return module.AlterPartitionRequest(
        broker_id=caller, broker_epoch=desk.image.brokers[caller].epoch, topics=(topic,)
    )


def assignment(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    module = assign_replicas_to_dirs_request
    was, broker_id = some_partition(desk, random), random.choice(BROKERS)
    topic = module.TopicData(
        topic_id=was.topic_id, partitions=(module.PartitionData(partition_index=was.index),)
    )
    own = incarnation_id(100 + broker_id)
    directory = random.choice((own, own, own, bytes(16), bytes(15) + b"\1", b"x" * 16))
    return module.AssignReplicasToDirsRequest(
        broker_id=broker_id,
        broker_epoch=desk.image.brokers[broker_id].epoch,
        directories=(module.DirectoryData(id=directory, topics=(topic,)),),
    )


def quota(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    return quotas.alteration(random, vocabulary)


def unclean_election(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    return elect_leaders_request.ElectLeadersRequest(topic_partitions=None, election_type=1)


def feature(desk: Desk, random: Random, vocabulary: Vocabulary) -> Message:
    updates = tuple(
        update_features_request.FeatureUpdateKey(
            feature=random.choice(("metadata.version", "x")),
            max_version_level=random.choice((-1, 0, 1, 21, 22)),
            upgrade_type=random.choice((0, 1, 2, 3)),
        )
        for _ in range(random.choice((1, 1, 2)))
    )
    return update_features_request.UpdateFeaturesRequest(feature_updates=updates)


def world() -> Desk:
    desk = Desk.active(brokers=len(BROKERS))
    desk.incarnation = 1
    for place, name in enumerate(LEGAL[:4]):
        replicas = tuple((place + step) % 5 + 1 for step in range(3))
        desk.ask(creation(name, replicas=(replicas, replicas[::-1])))
    return desk


@pytest.mark.requirement("497-05")
@pytest.mark.requirement("497-15")
@pytest.mark.requirement("631-73")
@pytest.mark.parametrize("seed", range(8))
def test_the_specification_agrees_with_each_decision(seed: int) -> None:
    random, desk = Random(seed), world()
    specification = Specification(Facts(cluster_id=CLUSTER))
    vocabulary = Vocabulary(cluster_id=CLUSTER, brokers=BROKERS)
    batches = desk.raft.log.read(0, 1 << 40)
    image = specification.empty
    for batch in batches:
        image = specification.after(image, specification.rows(batch.records))
    seen: Counter[str] = Counter()
    for _ in range(REQUESTS_A_SEED):
        request = drawn(desk, random, vocabulary)
        end = desk.raft.log.end_offset
        answer = desk.ask(request)
        records = [
            record
            for batch in desk.raft.log.read(end, 1 << 40)
            for record in batch.records
            if not isinstance(record, NoOpRecord)
        ]
        asked, answered = specification.rows((request, answer))
        written = specification.rows(records)
        assert specification.wrong_records(image, end, asked, written) is None, request
        assert specification.wrong_answer(image, asked, written, answered) is None, request
        image = specification.after(image, written)
        seen[type(request).__name__] += bool(written)
        for partition in (
            one for topic in image.topics.values() for one in topic.partitions.values()
        ):
            assert set(partition.isr) <= set(partition.replicas)
            assert partition.leader in (*partition.isr, NO_NODE)
    assert seen["AlterPartitionRequest"] > 2, seen
    assert seen["AlterPartitionReassignmentsRequest"] > 0, seen
    assert sum(seen.values()) > REQUESTS_A_SEED // 5, seen


@pytest.mark.requirement("631-88")
def test_the_specification_agrees_with_each_change_of_quotas() -> None:
    random, desk = Random(1), Desk.active(brokers=1)
    specification = Specification(Facts(cluster_id=CLUSTER))
    vocabulary = Vocabulary(cluster_id=CLUSTER, brokers=BROKERS)
    image = specification.empty
    codes: Counter[int] = Counter()
    for _ in range(300):
        request = quotas.alteration(random, vocabulary)
        end = desk.raft.log.end_offset
        asked, answer = specification.rows((request, desk.ask(request)))
        written = specification.rows(
            record
            for batch in desk.raft.log.read(end, 1 << 40)
            for record in batch.records
            if not isinstance(record, NoOpRecord)
        )
        assert specification.wrong_records(image, end, asked, written) is None, request
        assert specification.wrong_answer(image, asked, written, answer) is None, request
        image = specification.after(image, written)
        codes.update(result.error_code for result in answer.entries)
    assert min(codes[0], codes[42]) > 50, codes
