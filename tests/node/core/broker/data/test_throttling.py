"""Byte rates of producers and consumers: throttle times, empty answers, followers (KIP-13)."""

from kraftproof.node.core.effects import EndRequest
from kraftproof.node.wire.messages import fetch_request
from kraftproof.node.wire.records import metadata as records
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_messages import produce_message
from tests.support.node.data_world import DataWorld

RATE = 100


def limited(client="busy", key="producer_byte_rate", rate=RATE):
    """A world in which a client id has a byte rate."""
    world = DataWorld(1)
    part = records.EntityData(entity_type="client-id", entity_name=client)
    world.write(records.ClientQuotaRecord(entity=(part,), key=key, value=rate))
    world.publish()
    world.run(100)
    return world


def produce(world, client, count=1, acks=-1):
    data = batch_bytes(count, timestamp_ms=1_700_000_000_000)
    message = produce_message(data, acks, 1000)
    token = world.request(world.brokers[1], message, 12, client)
    world.run(20)
    return len(data), world.brokers[1].answers.get(token)


def fetch(world, client, offset=0, max_bytes=1 << 20, replica_id=-1, **fields):
    part = fetch_request.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=1 << 20
    )
    message = fetch_request.FetchRequest(
        replica_id=replica_id,
        min_bytes=1,
        max_bytes=max_bytes,
        session_epoch=-1,
        topics=(fetch_request.FetchTopic(topic="t", partitions=(part,)),),
        **fields,
    )
    token = world.request(world.brokers[1], message, 12, client)
    world.run(20)
    return world.brokers[1].answers[token]


def test_a_producer_above_its_rate_is_told_to_wait():
    world, sent = limited(), 0
    while sent <= RATE * 10:
        size, answer = produce(world, "busy")
        sent += size
        begun = world.time_ms
    expected = sent / RATE * 1000 - 10_000
    assert abs(answer.throttle_time_ms - expected) <= begun
    assert answer.responses[0].partition_responses[0].error_code == 0


def test_other_clients_are_not_throttled():
    world = limited()
    for _ in range(30):
        assert produce(world, "busy", 20)[1] is not None
        assert produce(world, "other", 20)[1].throttle_time_ms == 0


def test_a_producer_without_acknowledgements_is_muted_without_an_answer():
    world = limited(rate=1)
    assert produce(world, "busy", 3, acks=0)[1] is None
    (end,) = [effect for _, effect in world.effects if isinstance(effect, EndRequest)]
    assert end.throttle_ms > 1000
    assert not end.closes_connection


def test_a_consumer_above_its_rate_gets_no_records_until_it_has_waited():
    world = limited(key="consumer_byte_rate")
    size, _ = produce(world, "any", 5)
    read, answers = 0, 0
    while True:
        answer = fetch(world, "busy")
        if answer.throttle_time_ms:
            break
        read += len(answer.responses[0].partitions[0].records)
        answers += 1
    assert answer.responses == ()
    assert RATE * 10 - size < read <= RATE * 10
    world.run(answer.throttle_time_ms + 1000)
    assert fetch(world, "busy").responses[0].partitions[0].records
    assert fetch(world, "other").throttle_time_ms == 0


def test_an_answer_is_never_larger_than_the_budget_of_all_windows():
    """A larger answer would be throttled for ever."""
    world = limited(key="consumer_byte_rate")
    for _ in range(20):
        size, _ = produce(world, "any", 1)
    answer = fetch(world, "busy")
    assert answer.throttle_time_ms == 0
    assert size <= len(answer.responses[0].partitions[0].records) <= RATE * 10


def test_a_first_batch_above_the_asked_size_counts_with_all_its_bytes():
    world = limited(key="consumer_byte_rate")
    size, _ = produce(world, "any", 40)
    assert size > RATE * 3
    read = 0
    while True:
        answer = fetch(world, "busy", max_bytes=1)
        if answer.throttle_time_ms:
            break
        read += len(answer.responses[0].partitions[0].records)
    assert RATE * 10 < read <= RATE * 10 + size
    assert fetch(world, "other", max_bytes=1).throttle_time_ms == 0


def test_a_batch_above_the_budget_is_sent_once_and_paid_for_afterwards():
    """In Kafka such a batch is never sent: each answer would be above the quota."""
    world = limited(key="consumer_byte_rate", rate=1)
    size, _ = produce(world, "any", 40)
    assert len(fetch(world, "busy").responses[0].partitions[0].records) == size
    throttle_ms = fetch(world, "busy").throttle_time_ms
    asked = 10  # the budget of all windows, which the second Fetch adds
    assert abs(throttle_ms - ((size + asked) * 1000 - 10_000)) <= 1000


def test_no_measurement_is_kept_for_clients_that_have_gone():
    world = limited(None)
    rates = world.brokers[1].data._produce._rates._rates
    for number in range(50):
        produce(world, f"client-{number}")
    assert len(rates) == 50
    world.run(12_000, step_ms=1000)
    produce(world, "last")
    assert len(rates) == 1
