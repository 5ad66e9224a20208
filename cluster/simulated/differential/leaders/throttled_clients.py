"""Compare the waits of producers and consumers at a leader with a model (KIP-13, KIP-219).

The bytes of a producer count when its request is answered, also without an acknowledgement. A
consumer beyond its quota gets no records, and their bytes do not count. A follower has no quota.
"""

from random import Random
from typing import Final

from typing_extensions import override

from kraftproof.cluster.simulated.background.client_batches import NO_PRODUCER, client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    START_MS,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LEADER, LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import LOG, NAME, TOPIC
from kraftproof.cluster.simulated.differential.rules.quota_model import (
    CLIENTS,
    MS_NS,
    SECOND_NS,
    USERS,
    Budget,
    Rate,
    bound_of,
    draw_quotas,
    image_of,
)
from kraftproof.node.core.effects import Effect, EndRequest
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import ReplyWithBatches
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.principal import Principal

STEPS: Final = 25
FOLLOWERS: Final = (0, 2)
CONSUMER: Final = -1
PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
PRODUCE_VERSION, FETCH_VERSION = 11, 12
WAITS_MS: Final = (0, 0, 1, 250, 1_000, 7_000)
LARGE: Final = 1 << 20
WINDOWS: Final = 11
"""The default of quota.window.num; the last of the windows is not yet over."""


class _Rig(LeaderRig):
    """A leader whose effects are kept, too."""

    def __init__(self, follower: int) -> None:
        self.ended: dict[int, EndRequest] = {}
        self.read: dict[int, ReplyWithBatches] = {}
        super().__init__((int(LEADER), follower), 1, {})

    @property
    def image(self) -> MetadataImage:
        """Return the image."""
        return self._committed.image

    @override
    def _execute(self, effect: Effect) -> None:
        if isinstance(effect, EndRequest):
            self.ended[effect.request] = effect
        elif isinstance(effect, ReplyWithBatches):
            self.read[effect.request] = effect
        super()._execute(effect)


def compare_throttled_clients(random: Random) -> None:
    """Produce and consume as clients with and without quotas, and compare each wait.

    Raises:
        DifferenceError: a client waits for another time, or gets other records.
    """
    clients = _Clients(random)
    for _ in range(STEPS):
        clients.wait()
        random.choice((clients.produce, clients.produce, clients.consume, clients.follow))()


class _Clients:
    """The clients and the follower of a partition, with their quotas."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._follower = random.choice(FOLLOWERS)
        self._rig = _Rig(self._follower)
        self._quotas = draw_quotas(random, (PRODUCED, CONSUMED))
        self._rig.write(*records_of(image_of(self._quotas)))
        self._rates: dict[tuple[str, Budget], Rate] = {}
        self._wait_ms = self._end = self._size = 0
        self._name = ("", "")
        """The user and the client id of the present client."""

    def wait(self) -> None:
        """Let time pass: any time, or as long as the last answer said, or a millisecond less."""
        stated = (self._wait_ms, max(self._wait_ms - 1, 0))
        self._rig.pass_time(self._random.choice((*WAITS_MS, *stated)))
        if self._random.random() < 0.4:
            self._name = (self._random.choice(USERS), self._random.choice(CLIENTS))

    def _ask(self, message: Message, version: int) -> int:
        user, client = self._name
        return self._rig.ask(
            Received(
                request=0,
                message=message,
                version=version,
                on_controller_listener=False,
                principal=Principal(type="User", name=user),
                client_host="h",
                client_id=client,
            )
        )

    def _moved(self, key: str, size: int) -> int:
        """Count bytes of the present client, and return its wait."""
        bound = bound_of(self._quotas, key, *self._name)
        if bound is None:
            return 0
        rate = self._rates.setdefault((key, bound[1]), Rate(WINDOWS, SECOND_NS))
        now = self._rig.time_ms * MS_NS
        rate.events.append((now, size))
        wait_ms = rate.wait_ms(bound[0], now)
        if wait_ms and key == CONSUMED:
            rate.events.append((now, -size))
        return wait_ms

    def produce(self) -> None:
        """Send a batch with or without an acknowledgement."""
        values = [b"v" * self._random.choice((1, 200, 2_000))]
        data = client_batch(values, START_MS + self._rig.time_ms, NO_PRODUCER)
        part = produce_request.PartitionProduceData(index=0, records=data)
        topic = produce_request.TopicProduceData(name=NAME, partition_data=(part,))
        acks = self._random.choice((0, 1))
        request = produce_request.ProduceRequest(acks=acks, timeout_ms=1, topic_data=(topic,))
        token = self._ask(request, PRODUCE_VERSION)
        self._end, self._size = self._end + 1, self._size + len(data)
        self._wait_ms = self._moved(PRODUCED, len(data))
        answer = self._rig.answers.pop(token, None)
        if acks == 0:
            end = self._rig.ended[token]
            same("the wait after acks=0", end.throttle_ms, self._wait_ms)
            check("a producer without acks keeps its connection", not end.closes_connection)
        else:
            check("a Produce is answered", isinstance(answer, produce_response.ProduceResponse))
            assert isinstance(answer, produce_response.ProduceResponse), "checked"
            same("the wait after acks=1", answer.throttle_time_ms, self._wait_ms)

    def follow(self) -> None:
        """Fetch as the follower, from the begin or from the end."""
        offset = self._random.choice((0, self._end))
        token = self._ask(self._fetch(self._follower, offset), FETCH_VERSION)
        self._rig.answers.pop(token)
        effect = self._rig.read.pop(token, None)
        if offset == self._end:
            same("the records for a follower at the end", effect, None)
            return
        check("a follower gets records", effect is not None)
        assert effect is not None, "checked"
        found = [(one.log, one.offset, one.end_offset, one.max_bytes) for one in effect.reads]
        same("the records for a follower", found, [(LOG, 0, self._end, LARGE)])
        same("a follower is not counted", effect.counted_for, None)

    def consume(self) -> None:
        """Fetch as a consumer, after the follower has fetched everything."""
        self._ask(self._fetch(self._follower, self._end), FETCH_VERSION)
        bound = bound_of(self._quotas, CONSUMED, *self._name)
        most = LARGE if bound is None else min(LARGE, int(bound[0] * (WINDOWS - 1)))
        size = min(self._size, most)
        token = self._ask(self._fetch(CONSUMER, 0), FETCH_VERSION)
        self._wait_ms = self._moved(CONSUMED, size)
        answer = self._rig.answers.pop(token)
        assert isinstance(answer, fetch_response.FetchResponse), "a Fetch is answered"
        same("the wait of a consumer", answer.throttle_time_ms, self._wait_ms)
        effect = self._rig.read.pop(token, None)
        is_due = bool(self._size) and not self._wait_ms
        same("a consumer gets records", effect is not None, is_due)
        if effect is not None:
            found = (effect.counted_for is not None, effect.max_bytes, effect.counted_bytes)
            same("the counted records", found, (bound is not None, most, size))

    def _fetch(self, replica: int, offset: int) -> fetch_request.FetchRequest:
        part = fetch_request.FetchPartition(
            partition=0,
            current_leader_epoch=-1,
            fetch_offset=offset,
            log_start_offset=-1 if replica == CONSUMER else 0,
            partition_max_bytes=LARGE,
        )
        topic = fetch_request.FetchTopic(topic=NAME, topic_id=TOPIC, partitions=(part,))
        return fetch_request.FetchRequest(
            replica_id=replica,
            replica_state=fetch_request.ReplicaState(
                replica_id=replica,
                replica_epoch=-1 if replica == CONSUMER else FIRST_BROKER_EPOCH + replica,
            ),
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=LARGE,
            session_epoch=-1,
            topics=(topic,),
        )
