"""A topic of small segments, of dated records in every codec, and of batches that are refused.

Two writers send right and wrong batches with known answers (odd_batches.py). Readers look up
offsets by time, and read across segments. The invariants of partitions judge the readers' answers.
"""

from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.odd_batches import (
    KnownTimes,
    OddBatch,
    TopicRules,
    draw_batch,
)
from kraftproof.cluster.simulated.background.operators import record_deletions
from kraftproof.cluster.simulated.background.partition_clients import Client
from kraftproof.cluster.simulated.kernel.clock import START_OF_TIME_NS
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.world import World
from kraftproof.cluster.systems.kafka.log_requests import creation
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    fetch_request,
    list_offsets_request,
    list_offsets_response,
    produce_request,
    produce_response,
)

SHARE: Final = 0.35
"""Share of the runs with a data plane that have the topic."""
LABEL: Final = "dated-topic-38433"
"""Source of the draw; by this label the seeds recorded for older mutants have no such topic."""
EMPTIED_SHARE: Final = 0.2
EMPTIED: Final = "emptied-0"
"""Share of these topics that keep no record, and the source of the draw."""
NAME: Final = "__dated"
PARTITIONS: Final = 2
WRITERS: Final = 2
CREATE_VERSION, FETCH_VERSION = 7, 12
TIMEOUT_MS: Final = 1_500
LONGEST_REST_NS: Final = milliseconds(600)
LONGEST_LOOK_NS: Final = milliseconds(900)
ODD_SHARE: Final = 0.4
"""Share of batches with a mistake."""
WRONG_ACKS_SHARE: Final = 0.02
LARGEST_BYTES: Final = 2_000
LIMIT_MS: Final = 2 * 3_600_000
"""message.timestamp.before.max.ms and after.max.ms of the topic, above every error of a clock."""
INVARIANT: Final = "ProducersLearnOfMistakes"
STATEMENT: Final = (
    "A leader appends each right batch, and refuses a batch with a mistake by the error of the "
    "mistake, and names the records."
)
NOT_NOW: Final = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)
"""Errors of a broker that can't serve the partition at present."""
APPENDED: Final = frozenset(
    (
        ErrorCode.NONE,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
    )
)
"""Answers of a request that the leader has accepted."""
RECORD_ERRORS_FROM: Final = 8
"""First version of Produce that names wrong records (KIP-467)."""
TIMES_FROM: Final = {-3: 7, -4: 8, -5: 9, -6: 11}
"""The special times of ListOffsets with the first version (KIP-734, KIP-405, KIP-1005)."""
UNKNOWN_TIME: Final = -9

Asked = list[tuple[int, OddBatch]]


async def use_dated_topic(
    scope: SimulatedScope, world: World, random: Random, brokers: list[int]
) -> None:
    """Create the topic, and write until the final phase; read until the run ends."""
    rules = TopicRules(
        uses_append_time=random.random() < 0.25,
        is_compacted=random.random() < 0.15,
        segment_bytes=random.choice((600, 1_200)),
        largest_bytes=LARGEST_BYTES,
    )
    create = _create(random, rules, min(len(brokers), random.choice((1, 3, 3))))
    user = _User(scope, world, Random(f"{random.random()}"), brokers, rules)
    tasks = [scope.spawn(user.write()) for _ in range(WRITERS)]
    tasks += [scope.spawn(user.look_up()), scope.spawn(user.read())]
    apart = Random(f"{copy(random).random()}/deletions")
    client = Client(scope, world.network, random, brokers)
    if apart.random() < record_deletions.SHARE:
        deletions = record_deletions.Deletions(scope, world, apart, client, brokers)
        tasks.append(scope.spawn(deletions.delete(NAME, PARTITIONS)))
    while tasks:
        await client.ask(random.choice(brokers), create, CREATE_VERSION)
        await scope.sleep(milliseconds(6_000))


class _User:
    """The clients of the topic, which share what is known of the leaders."""

    def __init__(
        self,
        scope: SimulatedScope,
        world: World,
        random: Random,
        brokers: list[int],
        rules: TopicRules,
    ) -> None:
        self._scope = scope
        self._world = world
        self._random = random
        self._brokers = brokers
        self._rules = rules
        self._client = Client(scope, world.network, random, brokers)
        self._known = KnownTimes(Random(f"{copy(random).random()}/known"))
        self._leader: int | None = None
        """The broker that served the last request."""

    async def write(self) -> None:
        """Send right and wrong batches until the final phase."""
        random, rules = self._random, self._rules
        while not self._world.is_in_final_phase:
            await self._scope.sleep(random.randrange(LONGEST_REST_NS))
            now_ms = self._now_ms()
            asked = [
                (index, draw_batch(random, rules, now_ms, ODD_SHARE))
                for index in sorted(random.sample(range(PARTITIONS), random.randint(1, 2)))
            ]
            oldest = max(batch.versions[0] for _, batch in asked)
            newest = min(batch.versions[1] for _, batch in asked)
            if oldest > newest:
                asked, (oldest, newest) = asked[:1], asked[0][1].versions
            await self._produce(asked, random.randint(oldest, newest))

    async def _produce(self, asked: Asked, version: int) -> None:
        random = self._random
        is_wrong = random.random() < WRONG_ACKS_SHARE
        acks = random.choice((2, -2)) if is_wrong else random.choice((-1, -1, 1))
        parts = [
            produce_request.PartitionProduceData(index=index, records=batch.data)
            for index, batch in asked
        ]
        topic = produce_request.TopicProduceData(name=NAME, partition_data=tuple(parts))
        # Without an id, a batch of a transaction would refuse every batch of the request.
        request = produce_request.ProduceRequest(
            transactional_id=NAME, acks=acks, timeout_ms=TIMEOUT_MS, topic_data=(topic,)
        )
        answer = await self._ask(request, version)
        if not isinstance(answer, produce_response.ProduceResponse):
            return
        results = {one.index: one for one in answer.responses[0].partition_responses}
        for index, batch in asked:
            if is_wrong and not batch.precedes_acks:
                wrong = _unexpected(results[index].error_code, ErrorCode.INVALID_REQUIRED_ACKS)
            else:
                wrong = self._fault(batch, results[index], version)
                if results[index].error_code == ErrorCode.NONE:
                    self._known.note(batch, results[index].log_append_time_ms)
            if wrong is not None:
                about = f"Produce v{version} acks {acks} of {batch.about}"
                self._report(f"{about} to partition {index}: {wrong}")
        self._learn(results[asked[0][0]].error_code)

    def _fault(
        self, batch: OddBatch, result: produce_response.PartitionProduceResponse, version: int
    ) -> str | None:
        """Describe what is wrong with a result."""
        error = result.error_code
        is_right = ErrorCode.NONE in batch.expected
        if error in NOT_NOW or (is_right and error in APPENDED):
            time_ms = result.log_append_time_ms
            is_now = abs(time_ms - self._now_ms()) <= LIMIT_MS
            is_due = is_now if self._rules.uses_append_time else time_ms < 0
            is_wrong = error == ErrorCode.NONE and not is_due
            return f"the time of the append is {time_ms}" if is_wrong else None
        if error not in batch.expected:
            return f"error {error}, not {' or '.join(map(str, sorted(map(int, batch.expected))))}"
        named = tuple(record.batch_index for record in result.record_errors)
        if version >= RECORD_ERRORS_FROM and named != batch.wrong_records:
            return f"the records {named} are named, not {batch.wrong_records}"
        return None

    async def look_up(self) -> None:
        """Ask for offsets by time."""
        random = self._random
        while True:
            await self._scope.sleep(random.randrange(LONGEST_LOOK_NS))
            version = random.randint(1, 11)
            parts = [
                list_offsets_request.ListOffsetsPartition(
                    partition_index=index, timestamp=self._draw_time()
                )
                for index in sorted(random.sample(range(PARTITIONS), random.randint(1, 2)))
            ]
            topic = list_offsets_request.ListOffsetsTopic(name=NAME, partitions=tuple(parts))
            request = list_offsets_request.ListOffsetsRequest(replica_id=-1, topics=(topic,))
            answer = await self._ask(request, version)
            if not isinstance(answer, list_offsets_response.ListOffsetsResponse):
                continue
            for part, found in zip(parts, answer.topics[0].partitions, strict=True):
                since = TIMES_FROM.get(part.timestamp, 99 if part.timestamp == UNKNOWN_TIME else 0)
                right = ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION
                wrong = _unexpected(found.error_code, right)
                if wrong is not None:
                    self._report(f"ListOffsets v{version} of time {part.timestamp}: {wrong}")
            self._learn(answer.topics[0].partitions[0].error_code)

    def _draw_time(self) -> int:
        random = self._random
        if random.random() < 0.4:
            return random.choice((-1, -2, -3, -3, -3, -4, -5, -6, UNKNOWN_TIME))
        return self._known.draw(self._now_ms() + random.randint(-90_000, 90_000))

    async def read(self) -> None:
        """Fetch both partitions in small parts, from a random offset on."""
        random = self._random
        while True:
            await self._scope.sleep(random.randrange(LONGEST_LOOK_NS))
            first = random.choice((0, random.randrange(120)))
            parts = tuple(
                fetch_request.FetchPartition(
                    partition=index,
                    fetch_offset=first,
                    partition_max_bytes=random.choice((1, 150, 700, 1 << 20)),
                )
                for index in range(PARTITIONS)
            )
            request = fetch_request.FetchRequest(
                replica_id=-1,
                max_wait_ms=0,
                min_bytes=1,
                max_bytes=random.choice((200, 1 << 20)),
                session_epoch=-1,
                topics=(fetch_request.FetchTopic(topic=NAME, partitions=parts),),
            )
            await self._ask(request, FETCH_VERSION)

    async def _ask(self, request: Message, version: int) -> Message | None:
        broker = self._leader or self._random.choice(self._brokers)
        answer = await self._client.ask(broker, request, version)
        self._leader = None if answer is None else broker
        return answer

    def _learn(self, error: int) -> None:
        """Turn to another broker after an error of the leadership."""
        if error in NOT_NOW:
            self._leader = None

    def _now_ms(self) -> int:
        return (START_OF_TIME_NS + self._world.scheduler.now_ns) // milliseconds(1)

    def _report(self, detail: str) -> None:
        now_ns = self._world.scheduler.now_ns
        self._world.monitor.record(INVARIANT, STATEMENT, detail, node=0, time_ns=now_ns)


def _unexpected(error: int, right: ErrorCode) -> str | None:
    """Describe an error that is not the right error, nor one of the present state."""
    if error == right or error in NOT_NOW:
        return None
    if right == ErrorCode.NONE and error in APPENDED:
        return None
    return f"error {error}, not {int(right)}"


def _create(
    random: Random, rules: TopicRules, replicas: int
) -> create_topics_request.CreateTopicsRequest:
    drawn = copy(random).random()
    configs = {
        "flush.messages": "1",
        "internal.segment.bytes": str(rules.segment_bytes),
        "max.message.bytes": str(rules.largest_bytes),
        "message.timestamp.after.max.ms": str(LIMIT_MS),
        "message.timestamp.before.max.ms": str(LIMIT_MS),
        "message.timestamp.type": "LogAppendTime" if rules.uses_append_time else "CreateTime",
        "retention.ms": "-1",
    }
    if rules.is_compacted:
        configs["cleanup.policy"] = "compact"
    elif random.random() < 0.3:
        configs["retention.bytes"] = str(5 * rules.segment_bytes)
    if not rules.is_compacted and Random(f"{drawn}/{EMPTIED}").random() < EMPTIED_SHARE:
        configs["retention.bytes"] = "0"
    return creation(NAME, PARTITIONS, replicas, configs, timeout_ms=TIMEOUT_MS)
