"""Measure the longest step of a node under the largest loads, in CPU time of its thread.

    python -m bench.longest_step

First the core: three controllers and three brokers in one process, without network or disk. Each
line is one load and, for each role, the longest step and its event. The loads follow each other on
one cluster. Then the shell: each line is one large message on a connection over loopback, and the
longest turn of the event loop that both ends share.
"""

import asyncio
from typing import Final

from bench.loop_turns import Load, append_ms, measure_turns
from bench.step_cluster import BROKERS, CONTROLLERS, Cluster
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.controller.topics import MAX_RECORDS
from kraftproof.node.core.metadata.snapshot import History, batches_of, load
from kraftproof.node.server.garbage_collection import keep_collections_short
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    delete_topics_request,
    describe_configs_request,
    metadata_request,
    unregister_broker_request,
)

BOUND_MS: Final = 50
LAST: Final = CONTROLLERS + BROKERS
"""The broker that goes and comes."""
AT_ONCE: Final = 200
"""How many requests arrive together."""
ONE: Final = (1, MAX_RECORDS - 1)
"""Topics, and the partitions of each: as many partitions as a request may ask for."""
MANY: Final = (MAX_RECORDS // 2, 1)
"""As many topics as a request may ask for."""
TENS: Final = (750, 10)
"""Topics of ten partitions: with two configurations each as many records as there may be."""
CONFIGS: Final = (("retention.ms", "1000"), ("cleanup.policy", "compact"))

CREATE: Final = 7
DELETE: Final = 6
METADATA: Final = 12
DESCRIBE_CONFIGS: Final = 4
UNREGISTER: Final = 0
"""The versions in which requests are sent."""


def creation(
    topics: int,
    partitions: int,
    *,
    name: str = "t",
    configs: tuple[tuple[str, str], ...] = (),
    replicas: tuple[int, ...] = (),
    validate_only: bool = False,
) -> tuple[Message, int]:
    """Return a CreateTopics of so many topics of so many partitions each."""
    assignment = tuple(
        create_topics_request.CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
        for index in range(partitions if replicas else 0)
    )
    request = create_topics_request.CreateTopicsRequest(
        topics=tuple(
            create_topics_request.CreatableTopic(
                name=f"{name}-{partitions}-{number}",
                num_partitions=-1 if replicas else partitions,
                replication_factor=-1 if replicas else BROKERS,
                assignments=assignment,
                configs=tuple(
                    create_topics_request.CreatableTopicConfig(name=key, value=value)
                    for key, value in configs
                ),
            )
            for number in range(topics)
        ),
        timeout_ms=60_000,
        validate_only=validate_only,
    )
    return request, CREATE


def deletion(*shapes: tuple[str, int, int]) -> tuple[Message, int]:
    """Return the DeleteTopics of what `creation` makes, by name and shape."""
    state = delete_topics_request.DeleteTopicState
    request = delete_topics_request.DeleteTopicsRequest(
        topics=tuple(
            state(name=f"{name}-{partitions}-{number}")
            for name, topics, partitions in shapes
            for number in range(topics)
        ),
        timeout_ms=60_000,
    )
    return request, DELETE


def metadata(*shapes: tuple[int, int]) -> tuple[Message, int]:
    """Return the Metadata of the topics of these shapes, or of all."""
    topic = metadata_request.MetadataRequestTopic
    named = tuple(
        topic(name=f"t-{partitions}-{number}")
        for topics, partitions in shapes
        for number in range(topics)
    )
    return metadata_request.MetadataRequest(topics=named or None), METADATA


def configs_of(topics: int, partitions: int, name: str = "t") -> tuple[Message, int]:
    """Return the DescribeConfigs of topics, with all that a client may ask for."""
    request = describe_configs_request.DescribeConfigsRequest(
        resources=tuple(
            describe_configs_request.DescribeConfigsResource(
                resource_type=2, resource_name=f"{name}-{partitions}-{number}"
            )
            for number in range(topics)
        ),
        include_synonyms=True,
    )
    return request, DESCRIBE_CONFIGS


def measure_answers(cluster: Cluster) -> None:
    """Request the complete metadata of a broker."""
    ask = cluster.ask_broker
    cluster.measure(f"metadata of all {cluster.partitions():,} partitions", lambda: ask(metadata()))
    cluster.measure("metadata of 5,000 topics by name", lambda: ask(metadata(MANY)))
    cluster.measure("configurations of 5,000 topics", lambda: ask(configs_of(*MANY)))
    configured = configs_of(2500, 1, "c")
    cluster.measure("configurations of 2,500 topics that have some", lambda: ask(configured))
    many = [metadata()] * AT_ONCE
    cluster.measure(f"{AT_ONCE} requests for all metadata at once", lambda: ask(*many))


def measure_brokers(cluster: Cluster) -> None:
    """Let a broker of many partitions go, come back, and start from nothing."""
    cluster.measure(
        f"a broker of {cluster.partitions():,} partitions goes", lambda: cluster.kill(LAST)
    )
    cluster.measure("it comes back, with an empty log", lambda: cluster.start(LAST))
    cluster.kill(LAST)
    cluster.start(LAST)
    cluster.measure("it is replaced before its lease is over", lambda: None)
    image = cluster.image()
    taken = cluster.end()
    batches = tuple(batches_of(taken, image, 0))
    loaded = load(StoredSnapshot(snapshot=taken, size=0), batches)
    history = History(log_start=taken, kept=(loaded.stored,), newest=loaded)
    cluster.kill(LAST)
    cluster.measure("it starts from a snapshot", lambda: cluster.start(LAST, history))
    cluster.kill(LAST)
    cluster.measure("all write snapshots", cluster.let_snapshots_be_written)
    cluster.measure("it fetches and loads a snapshot", lambda: cluster.start(LAST))
    own = creation(*ONE, name="own", replicas=(LAST,))
    cluster.measure("create 1 topic by hand, 9,999 partitions", lambda: cluster.ask_leader(own))
    cluster.measure("the only replica of 9,999 partitions goes", lambda: cluster.kill(LAST))
    cluster.measure("it comes back, and leads again", lambda: cluster.start(LAST))
    cluster.kill(LAST)
    request = unregister_broker_request.UnregisterBrokerRequest(broker_id=LAST)
    gone = (request, UNREGISTER)
    cluster.measure("a broker is unregistered", lambda: cluster.ask_leader(gone))
    cluster.measure("it registers anew", lambda: cluster.start(LAST))


def measure_creations(cluster: Cluster) -> None:
    """Create topics of all shapes."""
    for label, request in (
        ("create 1 topic, 9,999 partitions", creation(*ONE)),
        ("create 5,000 topics", creation(*MANY)),
        ("create 750 topics of 10 partitions, configured", creation(*TENS, configs=CONFIGS)),
        ("create 2,500 topics, configured", creation(2500, 1, name="c", configs=CONFIGS)),
        ("too many records: refused", creation(1000, 10, name="r", configs=CONFIGS)),
        ("9,999 partitions, only to validate", creation(*ONE, name="v", validate_only=True)),
    ):
        cluster.measure(label, lambda request=request: cluster.ask_leader(request))  # type: ignore[misc]
    small = [creation(1, 40, name=f"s{number}") for number in range(AT_ONCE)]
    cluster.measure(
        f"{AT_ONCE} requests at once, each 1 topic of 40 partitions",
        lambda: cluster.ask_leader(*small),
    )


def measure_deletions(cluster: Cluster) -> None:
    """Delete topics of all shapes."""
    small = [(f"s{number}", 1, 40) for number in range(AT_ONCE)]
    for label, request in (
        ("delete topics of 9,999 partitions, two in a request", [("t", *ONE), ("own", *ONE)]),
        ("delete 5,000 topics", [("t", *MANY)]),
        ("delete 3,450 topics, most configured", [("t", *TENS), ("c", 2500, 1), *small]),
    ):
        cluster.measure(
            label,
            lambda request=request: cluster.ask_leader(deletion(*request)),  # type: ignore[misc]
        )


def measure_failover(cluster: Cluster) -> None:
    """Lose the active controller, while a large request is under way and others come in."""

    def act() -> None:
        cluster.ask_leader(creation(*ONE, name="f"))
        cluster.take(20)
        cluster.ask_next_leader(
            *(creation(1, 900, name=f"n{number}") for number in range(AT_ONCE // 10)),
            *(creation(1, 9, name=f"o{number}") for number in range(AT_ONCE)),
        )
        cluster.kill(cluster.leader())

    cluster.measure(f"the active controller goes, {AT_ONCE} requests wait for the next", act)


def loads_of(cluster: Cluster) -> list[Load]:
    """Return the largest requests, and the largest answers that the nodes gave."""
    create, version = creation(*MANY, name="shell")
    assert isinstance(create, create_topics_request.CreateTopicsRequest)
    return [
        Load(request=message, version=number, answer=answer)
        for message, number, answer in cluster.largest_answers.values()
    ] + [Load(request=create, version=version, answer=None)]


def main() -> None:
    """Measure each load in turn; the cluster keeps the topics of the loads before."""
    cluster = Cluster()
    keep_collections_short()  # as node/server/main.py does
    print(f"to stay below: {BOUND_MS} ms")
    measure_creations(cluster)
    measure_answers(cluster)
    measure_brokers(cluster)
    measure_failover(cluster)
    measure_deletions(cluster)
    batch = max(cluster.batches(), key=lambda batch: len(batch.records))
    appended_ms = append_ms(batch)
    print(f"the log takes an encoded batch of {len(batch.records)} records: {appended_ms:.1f} ms")
    longest_turn_ms = max(appended_ms, asyncio.run(measure_turns(loads_of(cluster))))
    print(f"the longest step: {cluster.longest_ms:.1f} ms")
    print(f"the longest turn of the shell's event loop: {longest_turn_ms:.1f} ms")


if __name__ == "__main__":
    main()
