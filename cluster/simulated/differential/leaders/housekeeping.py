"""Compare the periodic work on a broker's logs: retention, expiration, checkpoints and their times.

Retention removes records of led partitions by the wall clock, whose steps do not move the times of
the work. A run of a minute never reaches Kafka's interval of five minutes.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.follower_model import FollowerModel
from kraftproof.cluster.simulated.differential.leaders.kept_logs import (
    BROKER,
    OTHER,
    KeptLogs,
    KeptTopic,
)
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelBatch
from kraftproof.cluster.simulated.differential.leaders.leader_rig import NEVER_NS
from kraftproof.cluster.simulated.differential.leaders.produces import placed
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.types import Offset, milliseconds
from kraftproof.node.core.log_effects import RaiseLogStart, WriteCheckpoints
from kraftproof.node.core.partition.log_index import FIRST_SPAN_BYTES
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_response

STEPS: Final = 60
LONGEST_WAIT_MS: Final = 30_000
_REPLICAS: Final = ((BROKER,), (BROKER,), (BROKER, OTHER), (OTHER, BROKER))
_EXPIRATIONS_MS: Final = (300, 1_000, 4_000)
_STEPS_MS: Final = (-2_000, -300, 300, 2_000)
"""Steps of the wall clock."""


class _Housekeeping:
    """The logs of the broker as lists, and the times of the next work."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._topics = tuple(_draw_topic(random, number) for number in range(random.choice((0, 1, 2, 3, 3))))
        self._logs = {topic.number: FollowerModel() for topic in self._topics}
        self._policy = ReplicationPolicy(
            is_enabled=True,
            lag_ns=NEVER_NS,
            checkpoint_interval_ns=milliseconds(random.choice((200, 500))),
            retention_interval_ns=milliseconds(random.choice((300, 700))),
            producer_expiration_ms=random.choice(_EXPIRATIONS_MS),
        )
        now_ns = milliseconds(random.choice((0, 7_000_000)))
        self._rig = KeptLogs(self._topics, self._policy, now_ns)
        self._next_retention = now_ns + self._policy.retention_interval_ns
        self._next_checkpoint = now_ns + self._policy.checkpoint_interval_ns
        self._written: dict[int, int] = {}
        """The high watermark of each topic in the last checkpoint."""
        self._expirations: dict[str, int] = {}
        """The dynamic values, by the name of the resource."""
        self._waiting: dict[int, tuple[KeptTopic, int, int]] = {}
        """By token of a Fetch: topic, offset and deadline."""

    def step(self) -> None:
        """Change the logs or the configuration, or let time pass; compare with the broker."""
        kind = self._random.random()
        if kind < 0.45 and self._topics:
            self._append()
        elif kind < 0.55 and self._topics:
            self._fetch()
        elif kind < 0.6:
            self._rig.step_ms += self._random.choice(_STEPS_MS)
        elif kind < 0.66:
            self._set_expiration()
        else:
            self._pass_time()
        self._compare()

    def stop(self) -> None:
        """Compare the checkpoints of an orderly stop."""
        self._rig.stop()
        expected = self._changed()
        same("the checkpoints of a stop", self._rig.checkpoints, expected)

    def _append(self) -> None:
        """Append a batch that is larger than a span of the index, maybe behind small ones.

        The index knows the newest time of a span: the records of a span are removed together.
        """
        random, topic = self._random, self._random.choice(self._topics)
        log, producer_id = self._logs[topic.number], random.choice((-1, -1, 5, 6))
        known = log.producers.get(producer_id)
        sequence = -1 if producer_id < 0 else known[-1].last_sequence + 1 if known else 0
        producer = (producer_id, -1 if producer_id < 0 else 0, sequence)
        span: list[bytes] = []
        newest_ms = 0
        small = (1,) * random.choice((0, 1, 1, 2)) if producer_id < 0 else ()
        for size in (*small, FIRST_SPAN_BYTES):
            time_ms = self._rig.wall_ms - random.choice((0, 0, 100, 600, 3_000, 3_000))
            newest_ms = max(newest_ms, time_ms)
            data = client_batch([b"v" * size], time_ms, producer)
            span.append(placed(data, log.end + len(span), 0))
            self._rig.append(topic, span[-1])
        count, data = len(span), b"".join(span)
        batch = ModelBatch(
            base=log.end, count=count, epoch=0, data=data, producer=producer, time_ms=newest_ms
        )
        log.append(batch, self._rig.wall_ms)
        log.producers.pop(-1, None)
        if topic.replicas == (BROKER,):
            log.high_watermark = log.end
        elif not topic.is_led and random.random() < 0.5:
            log.follow(log.end, 0)
            self._rig.replica(topic).follow_leaders_offsets(Offset(log.end), Offset(0))

    def _fetch(self) -> None:
        """Let a consumer wait at the start of a led log."""
        topic, wait_ms = self._random.choice(self._topics), self._random.choice((400, 60_000))
        if not topic.is_led:
            return
        offset = self._logs[topic.number].start
        token = self._rig.fetch(topic, offset, wait_ms)
        deadline = self._rig.now_ns + milliseconds(min(wait_ms, LONGEST_WAIT_MS))
        self._waiting[token] = (topic, offset, deadline)

    def _set_expiration(self) -> None:
        name, value = self._random.choice(("", str(BROKER))), self._random.choice(_EXPIRATIONS_MS)
        if self._random.random() < 0.3:
            self._expirations.pop(name, None)
            self._rig.set_expiration(name, None)
        else:
            self._expirations[name] = value
            self._rig.set_expiration(name, str(value))

    def _pass_time(self) -> None:
        """Let time pass, and do the work that is due; a checkpoint comes before the retention."""
        rig, policy = self._rig, self._policy
        rig.pass_time(self._random.choice((1, 50, 200, 800)))
        checkpoints: list[WriteCheckpoints] = []
        raised: list[RaiseLogStart] = []
        if rig.now_ns >= self._next_checkpoint:
            self._next_checkpoint = rig.now_ns + policy.checkpoint_interval_ns
            checkpoints = self._changed()
        if rig.now_ns >= self._next_retention:
            self._next_retention = rig.now_ns + policy.retention_interval_ns
            raised = self._retain()
        same("the checkpoints", rig.checkpoints, checkpoints)
        same("the raised starts of logs", rig.raised, raised)
        rig.checkpoints.clear()
        rig.raised.clear()

    def _changed(self) -> list[WriteCheckpoints]:
        """Return the checkpoint of the high watermarks that have changed since the last one."""
        changed = []
        for topic in self._topics:
            high_watermark = self._logs[topic.number].high_watermark
            if self._written.get(topic.number) != high_watermark:
                self._written[topic.number] = high_watermark
                changed.append((topic.log, Offset(high_watermark)))
        return [WriteCheckpoints(high_watermarks=tuple(changed))] if changed else []

    def _retain(self) -> list[RaiseLogStart]:
        """Return the starts that rise, and forget old producers."""
        default = self._expirations.get("", self._policy.producer_expiration_ms)
        expiration_ms = self._expirations.get(str(BROKER), default)
        raised: list[RaiseLogStart] = []
        for topic in self._topics:
            log = self._logs[topic.number]
            log.expire(self._rig.wall_ms - expiration_ms)
            if not topic.is_led or "delete" not in topic.policy:
                continue
            start = log.retained(age_ms=topic.age_ms, size=topic.size, now_ms=self._rig.wall_ms)
            if start > log.start:
                log.follow(log.high_watermark, start)
                raised.append(RaiseLogStart(log=topic.log, start_offset=Offset(start)))
        return raised

    def _compare(self) -> None:
        for topic in self._topics:
            log, replica = self._logs[topic.number], self._rig.replica(topic)
            index = replica.index
            found = (index.start_offset, index.high_watermark, index.end_offset)
            expected = (log.start, log.high_watermark, log.end)
            same(f"start, high watermark and end of {topic}", found, expected)
            known = [each for each, _ in replica.producers.last_batches()]
            same(f"the producers of {topic}", known, sorted(log.producers))
        self._compare_fetches()
        due = [deadline for _, _, deadline in self._waiting.values()]
        if self._topics:
            due += [self._next_retention, self._next_checkpoint]
        same("the time of the next work", self._rig.deadline_ns, min(due, default=None))

    def _compare_fetches(self) -> None:
        """Compare the waiting Fetches; those below a new start end at once."""
        for token, (topic, offset, deadline) in list(self._waiting.items()):
            is_removed = self._logs[topic.number].start > offset
            is_over = deadline <= self._rig.now_ns
            answer = self._rig.answers.pop(token, None)
            if not is_removed and not is_over:
                check(f"a Fetch of {topic} at offset {offset} waits", answer is None)
                continue
            del self._waiting[token]
            if is_removed and not is_over:
                is_answer = isinstance(answer, fetch_response.FetchResponse)
                check(f"a Fetch of removed records of {topic} is answered", is_answer)
                assert isinstance(answer, fetch_response.FetchResponse), "checked"
                error = answer.responses[0].partitions[0].error_code
                what = f"a Fetch of the removed offset {offset} of {topic}"
                same(what, error, int(ErrorCode.OFFSET_OUT_OF_RANGE))


def compare_housekeeping(random: Random) -> None:
    """Let a broker keep its logs over drawn times, and compare each effect with the model.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    housekeeping = _Housekeeping(random)
    for _ in range(STEPS):
        housekeeping.step()
    housekeeping.stop()


def _draw_topic(random: Random, number: int) -> KeptTopic:
    return KeptTopic(
        number=number,
        replicas=random.choice(_REPLICAS),
        policy=random.choice(("delete", "delete", "compact,delete", "compact")),
        age_ms=random.choice((-1, 0, 500, 2_000, 2_000)),
        size=random.choice((-1, -1, 0, 9_000)),
    )
