"""Writers of odd batches know the right answers, and a run with them is valid."""

from itertools import pairwise
from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import dated_topic, odd_batches
from kraftproof.cluster.simulated.background.odd_batches import TopicRules, draw_batch
from kraftproof.cluster.simulated.background.operators import record_deletions
from kraftproof.cluster.simulated.kernel.clock import START_OF_TIME_NS
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.partition.settings import TopicSettings
from kraftproof.node.core.partition.validation import Refusal, check_content, parse_produced
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    list_offsets_request,
    list_offsets_response,
    produce_response,
)

NOW_MS = 1_767_225_600_000
DRAWS = 400
SECOND_NS = 1_000_000_000


def drawn(seed):
    random = Random(seed)
    rules = TopicRules(
        uses_append_time=random.random() < 0.3,
        is_compacted=random.random() < 0.3,
        segment_bytes=random.choice((600, 1_200)),
        largest_bytes=2_000,
    )
    return draw_batch(random, rules, NOW_MS, 0.8), rules


def settings_of(rules):
    return TopicSettings(
        min_isr=1,
        max_message_bytes=rules.largest_bytes,
        segment_bytes=rules.segment_bytes,
        retention_ms=-1,
        retention_bytes=-1,
        is_compacted=rules.is_compacted,
        is_deleted=True,
        uses_append_time=rules.uses_append_time,
        timestamp_before_max_ms=dated_topic.LIMIT_MS,
        timestamp_after_max_ms=dated_topic.LIMIT_MS,
        flush_messages=1,
    )


def test_the_node_gives_the_expected_answer_to_each_batch():
    kinds = set()
    for seed in range(DRAWS):
        batch, rules = drawn(seed)
        kinds.add(min(batch.expected))
        for version in batch.versions:
            result = parse_produced(batch.data, version)
            if not isinstance(result, Refusal):
                result = check_content(result, settings_of(rules), NOW_MS * 1_000_000)
            refusal = result if isinstance(result, Refusal) else None
            error = ErrorCode.NONE if refusal is None else refusal.error
            assert error in batch.expected, (seed, batch.about, error)
            named = () if refusal is None else tuple(one.index for one in refusal.records)
            assert named == batch.wrong_records, (seed, batch.about)
    assert kinds == odd_batches.ERRORS


class Broker:
    """Brokers that answer a request as a test says."""

    def __init__(self, change):
        self.change = change
        self.asked = 0

    async def ask(self, _broker, message, _version):
        self.asked += 1
        return self.change(message)


def answered(message, **fields):
    parts = tuple(
        produce_response.PartitionProduceResponse(index=part.index, **fields)
        for part in message.topic_data[0].partition_data
    )
    topic = produce_response.TopicProduceResponse(partition_responses=parts)
    return produce_response.ProduceResponse(responses=(topic,))


class Reports:
    def __init__(self):
        self.details = []
        self.monitor = self.scheduler = self
        self.network = None
        self.now_ns = 0

    def record(self, invariant, statement, detail, *, node, time_ns):
        assert invariant == dated_topic.INVARIANT
        self.details.append(detail)


async def produce(batch, rules, **fields):
    """Return the reports of an answer to a batch."""
    reports = Reports()
    user = dated_topic._User(None, reports, Random(1), [1], rules)
    user._client = Broker(lambda message: answered(message, **fields))
    await user._produce([(1, batch)], 9)
    return reports.details


def run(coroutine):
    with pytest.raises(StopIteration) as ended:
        coroutine.send(None)
    return ended.value.value


def test_another_answer_than_the_expected_is_reported():
    right, rules = next(
        (batch, rules)
        for batch, rules in map(drawn, range(DRAWS))
        if ErrorCode.NONE in batch.expected and not rules.uses_append_time
    )
    stamped = replace(rules, uses_append_time=True)
    assert run(produce(right, rules)) == []
    assert run(produce(right, rules, error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)) == []
    now_ms = START_OF_TIME_NS // 1_000_000
    assert run(produce(right, stamped, log_append_time_ms=now_ms + 9)) == []
    for time_ms in (-1, 5, 1_000 * now_ms):
        (wrong,) = run(produce(right, stamped, log_append_time_ms=time_ms))
        assert wrong.endswith(f"to partition 1: the time of the append is {time_ms}")
    (wrong,) = run(produce(right, rules, error_code=ErrorCode.CORRUPT_MESSAGE))
    assert wrong.endswith(f"of {right.about} to partition 1: error 2, not 0")

    far, rules = next(each for each in map(drawn, range(DRAWS)) if each[0].wrong_records)
    (wrong,) = run(produce(far, rules))
    assert wrong.endswith(f"error 0, not {int(min(far.expected))}")
    (wrong,) = run(produce(far, rules, error_code=min(far.expected)))
    assert wrong.endswith(f"the records () are named, not {far.wrong_records}")


@pytest.mark.simulation
def test_a_run_with_the_topic_is_valid(tmp_path) -> None:
    nodes = nodes_of(controller=1, broker=2)
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes, seed=5, directory=tmp_path, has_data=True)
    )
    scope, world, answers = cluster.scope, cluster.world, []
    hook = world.monitor.on_data_answered[list_offsets_request.ListOffsetsRequest]
    hook.append(lambda _process, event, message: answers.append(message))

    async def main() -> None:
        await cluster.start()
        task = scope.spawn(dated_topic.use_dated_topic(scope, world, Random(1), [2, 3]))
        await scope.sleep(30 * SECOND_NS)
        task.cancel()

    cluster.run(main())
    assert not cluster.violations
    assert any(
        part.timestamp > 0
        for answer in answers
        if isinstance(answer, list_offsets_response.ListOffsetsResponse)
        for part in answer.topics[0].partitions
    )


def test_times_of_appended_batches_are_looked_up():
    times = odd_batches.KnownTimes(Random(1))
    assert {times.draw(7) for _ in range(20)} == {7}
    right, _ = next((batch, rules) for batch, rules in map(drawn, range(DRAWS)) if is_right(batch))
    times.note(right, -1)
    times.note(right, 5)
    times.note(replace(right, newest_ms=odd_batches.NO_TIME), -1)
    looked_up = {times.draw(7) for _ in range(200)}
    assert looked_up == {7, 5, 6, right.newest_ms, right.newest_ms + 1}


def is_right(batch):
    return batch.expected == {ErrorCode.NONE} and batch.newest_ms > 0


class Brokers:
    """Brokers that take each request, and a run that ends after some of them."""

    def __init__(self, requests):
        self.requests = requests
        self.asked = []

    @property
    def is_in_final_phase(self):
        return len(self.asked) == self.requests

    async def sleep(self, _duration_ns):
        """Time is no matter."""

    async def ask(self, broker, message, version):
        self.asked.append((broker, message, version))


def test_deletions_proceed_within_each_partition():
    brokers = Brokers(requests=30)
    deletions = record_deletions.Deletions(brokers, brokers, Random(1), brokers, [4, 5])
    run(deletions.delete("t", 2))
    offsets = {0: [0], 1: [0]}
    for broker, message, version in brokers.asked:
        assert (broker in {4, 5}, version) == (True, record_deletions.VERSION)
        (part,) = message.topics[0].partitions
        offsets[part.partition_index].append(part.offset)
    for asked in offsets.values():
        steps = {later - before for before, later in pairwise(asked)}
        assert steps <= set(range(1, record_deletions.MOST_RECORDS + 1))
        assert len(steps) > 2
