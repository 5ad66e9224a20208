"""Throttle times of one system under small quotas, for the comparison. No tests here.

The client id of the harness gets one quota after the other. A throttled answer is preceded by
requests that use up the budget of all windows, so the waits are short.
"""

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kraftproof.cluster.systems.kafka.records import batch_of
from kraftproof.node.tools.client import CLIENT_ID, parse_addresses
from kraftproof.node.wire.messages import (
    Message,
    alter_client_quotas_request,
    create_partitions_request,
    describe_client_quotas_request,
    describe_client_quotas_response,
    fetch_request,
    metadata_request,
    produce_request,
)
from tests.kafka.differential.case import BROKER, Case
from tests.kafka.differential.data import WITHOUT_ID
from tests.kafka.differential.system import BROKER_ID, Answer, System
from tests.kafka.differential.topics import create, topic
from tests.kafka.systems import until

Alter = alter_client_quotas_request
RATE: Final = 100_000
"""Bytes a second, of producers and consumers."""
HALF: Final = batch_of(bytes(490_000), 1_700_000_000_000, WITHOUT_ID)
"""Nearly half of the budget of 10 seconds."""
REST: Final = batch_of(bytes(120_000), 1_700_000_000_000, WITHOUT_ID)
"""A second above the budget."""
THIS_CLIENT: Final[Mapping[str, str]] = {"user": "ANONYMOUS", "client-id": CLIENT_ID}
"""The most specific entity: other quotas of the comparison do not apply."""
LOOPBACK: Final[Mapping[str, str]] = {"ip": "127.0.0.1"}
CONNECTIONS: Final = 20
CONNECTION_RATE: Final = 1
MUTATION_RATE: Final = 1
TOPIC: Final = "throttled"
GROWN: Final = 13
"""12 new partitions: one more than the bucket of 11 windows holds."""
_API_VERSIONS: Final = bytes.fromhex("0000000a 0012 0000 00000001 ffff")


@dataclass(frozen=True, slots=True)
class Waits:
    """The least and the most milliseconds that a wait can have had, were the system at once.

    A system counts the first request and computes the throttle time at moments between the
    sending of a request and the receipt of its answer. A slow machine makes these times long, and
    nobody but the system knows the moments.
    """

    least: float
    most: float

    def apart(self, other: "Waits") -> float:
        """Return the milliseconds between the two ranges, 0 if they meet."""
        return max(0, self.least - other.most, other.least - self.most)


def throttle_times(system: System) -> dict[str, Waits]:
    """Return the waits of each quota of bytes or mutations.

    The time between the first measured request and the throttled one is added to the throttle
    time, as a slower system has that much less to wait.
    """
    _create_topic(system)
    return {
        "producer_byte_rate": _of_bytes(system, "producer_byte_rate", _produces()),
        "consumer_byte_rate": _of_bytes(system, "consumer_byte_rate", _fetches()),
        "controller_mutation_rate": _of_mutations(system),
    }


def _create_topic(system: System) -> None:
    system.ask(create("throttled", topic(TOPIC, replicas=((BROKER_ID,),))), 7)
    settled = metadata_request.MetadataRequest(topics=None)
    system.ask(Case(name="settled", message=settled, versions=(12,), is_settled=True), 12)


def _ask(system: System, message: Message, version: int, to: str = BROKER) -> Answer:
    case = Case(name="throttling", message=message, versions=(version,), to=to)
    answer = system.ask(case, version)
    assert not isinstance(answer, str), f"{type(message).__name__}: {answer}"
    return answer


def _timed(system: System, requests: list[Message], version: int) -> tuple[list[int], Waits]:
    """Return the throttle times of requests in series, and the wait of the last one."""
    told, times = [], []
    for request in requests:
        sent = time.monotonic()
        told.append(_throttle_ms(_ask(system, request, version)))
        times.append((sent * 1000, time.monotonic() * 1000))
    (first_sent, first_got), (last_sent, last_got) = times[0], times[-1]
    waits = Waits(told[-1] + last_sent - first_got, told[-1] + last_got - first_sent)
    return told, waits


def _throttle_ms(answer: Answer) -> int:
    return int(getattr(answer, "throttle_time_ms"))  # noqa: B009 -- each answer here has the field


def _set(
    system: System, key: str, value: float | None, entity: Mapping[str, str] = THIS_CLIENT
) -> None:
    """Set or remove a quota, and wait until the broker knows."""
    parts = tuple(
        Alter.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()
    )
    change = Alter.OpData(key=key, value=value or 0.0, remove=value is None)
    entry = Alter.EntryData(entity=parts, ops=(change,))
    _ask(system, Alter.AlterClientQuotasRequest(entries=(entry,)), 1)

    def knows() -> bool:
        return (key in _described(system, entity)) == (value is not None)

    assert until(knows), f"the broker does not learn of {key}={value}"


def _described(system: System, entity: Mapping[str, str]) -> set[str]:
    """Return the keys of an entity's quotas, as the broker knows them."""
    module = describe_client_quotas_request
    components = tuple(
        module.ComponentData(entity_type=kind, match_type=0, match=name)
        for kind, name in entity.items()
    )
    asked = module.DescribeClientQuotasRequest(components=components, strict=True)
    answer = _ask(system, asked, 1)
    assert isinstance(answer, describe_client_quotas_response.DescribeClientQuotasResponse)
    return {each.key for told in answer.entries or () for each in told.values}


def _produces() -> list[Message]:
    def produce(records: bytes) -> Message:
        part = produce_request.PartitionProduceData(index=0, records=records)
        data = produce_request.TopicProduceData(name=TOPIC, partition_data=(part,))
        return produce_request.ProduceRequest(acks=1, timeout_ms=5000, topic_data=(data,))

    return [produce(HALF), produce(HALF), produce(REST)]


def _fetches() -> list[Message]:
    def fetch(offset: int, size: int) -> Message:
        part = fetch_request.FetchPartition(
            partition=0, fetch_offset=offset, partition_max_bytes=size
        )
        named = fetch_request.FetchTopic(topic=TOPIC, partitions=(part,))
        return fetch_request.FetchRequest(
            max_wait_ms=0, min_bytes=0, session_epoch=-1, topics=(named,)
        )

    half, rest = len(HALF), len(REST)
    return [fetch(0, half), fetch(1, half), fetch(2, rest)]


def _of_bytes(system: System, key: str, requests: list[Message]) -> Waits:
    _set(system, key, RATE)
    told, waits = _timed(system, requests, 12)
    _set(system, key, None)
    assert [throttle_ms > 0 for throttle_ms in told] == [False, False, True], f"{key}: {told}"
    return waits


def _of_mutations(system: System) -> Waits:
    module = create_partitions_request

    def grow(count: int) -> Message:
        placed = module.CreatePartitionsAssignment(broker_ids=(BROKER_ID,))
        assignments = (placed,) * (count - (1 if count == GROWN else GROWN))
        grown = module.CreatePartitionsTopic(name=TOPIC, count=count, assignments=assignments)
        return module.CreatePartitionsRequest(topics=(grown,), timeout_ms=10_000)

    _set(system, "controller_mutation_rate", MUTATION_RATE)
    (first, second), waits = _timed(system, [grow(GROWN), grow(GROWN + 1)], 3)
    _set(system, "controller_mutation_rate", None)
    assert first == 0, "a newer version is refused later, and never waits for what was done"
    assert second > 0
    return waits


def wait_of_time(system: System) -> float:
    """Return the longest wait: each request takes more than a thousandth percent of a thread."""
    _set(system, "request_percentage", 0.001)
    waits = [
        _throttle_ms(_ask(system, metadata_request.MetadataRequest(topics=None), 12))
        for _ in range(2)
    ]
    _set(system, "request_percentage", None)
    return max(waits)


def connections_taken(system: System) -> tuple[int, float]:
    """Return the number of connections that are served, of many, and the seconds of all."""
    begun = time.monotonic()
    _set(system, "connection_creation_rate", CONNECTION_RATE, LOOPBACK)
    address = parse_addresses(system.addresses[BROKER])[0]
    opened = [
        socket.create_connection((address.host, address.port), timeout=10)
        for _ in range(CONNECTIONS)
    ]
    try:
        served = sum(_is_served(connected) for connected in opened)
        return served, time.monotonic() - begun
    finally:
        for connected in opened:
            connected.close()
        _set(system, "connection_creation_rate", None, LOOPBACK)


def _is_served(connected: socket.socket) -> bool:
    try:
        connected.sendall(_API_VERSIONS)
        return connected.recv(4) != b""
    except ConnectionError:
        return False
