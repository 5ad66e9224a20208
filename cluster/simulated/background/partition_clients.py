"""Clients that produce to background topics and fetch from them, in runs with a data plane.

The topics flush each append before the acknowledgement, so that a loss of power loses no
acknowledged record. A producer is idempotent and repeats a batch until the answer is sure. The
invariants of partitions judge the answers; see node/core/broker/data for the requests.
"""

from copy import copy
from random import Random

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.world import World
from kraftproof.cluster.systems.kafka.log_requests import creation
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    fetch_request,
    init_producer_id_request,
    init_producer_id_response,
    produce_request,
    produce_response,
)

InitProducerIdResponse = init_producer_id_response.InitProducerIdResponse
NAME = "__data"
"""The background topic; no workload uses names with two leading underscores."""
PARTITIONS = 2
PRODUCERS = 3
CONSUMERS = 2
MAX_WAIT_NS = milliseconds(1_500)
"""Time-out of a connection, and of a response."""
LONGEST_REST_NS = milliseconds(300)
"""Longest time between two requests of a client."""
PRODUCE_VERSION = 12
FETCH_VERSION = 12
INIT_VERSION = 4
CREATE_VERSION = 7
NO_TIMESTAMP = -1
NO_EPOCH = -1
MOST_IN_FLIGHT = 5
"""Number of last batches of which a producer may repeat any."""
AGAIN_SHARE = 0.1
RECUT_SHARE = 0.04
"""Share of the batches after which one comes again, and of those with other records."""
KNOWN_EPOCH_SHARE = 0.15
LARGEST_KNOWN_EPOCH = 8
"""Share of a consumer's Fetches with a leader epoch, and the bound of that epoch."""
AGELESS_SHARE = 0.3
"""Share of the topics that keep records of any age, which no run tells from a week."""
_ACKS = (-1, -1, -1, 1)


async def produce_and_fetch(
    scope: SimulatedScope, world: World, random: Random, brokers: list[int]
) -> None:
    """Create the topic, and then fetch until the run ends, and produce until the final phase."""
    network = world.network
    clients = [
        Client(scope, network, Random(f"{random.random()}"), brokers)
        for _ in range(PRODUCERS + CONSUMERS)
    ]
    tasks = [scope.spawn(client.produce(world)) for client in clients[:PRODUCERS]]
    tasks += [scope.spawn(client.consume()) for client in clients[PRODUCERS:]]
    create = _create(random, min(len(brokers), 3))
    client = Client(scope, network, random, brokers)
    while tasks:
        # The topic may be refused while too few brokers are unfenced.
        await client.ask(random.choice(brokers), create, CREATE_VERSION)
        await scope.sleep(milliseconds(5_000))


class Client:
    """One client, with a request at a time."""

    def __init__(
        self, scope: SimulatedScope, network: Network, random: Random, brokers: list[int]
    ) -> None:
        self._scope = scope
        self._network = network
        self._random = random
        self._brokers = brokers
        self._apart = Random(f"{copy(random).random()}/again")
        """Draws the batches that come again, and the leader epochs of consumers."""
        self._leaders: dict[int, int] = {}
        """The last known leader of each partition, for `send`."""

    async def send(self, data: bytes, partition: int, acks: int) -> None:
        """Send a batch once, to the last known leader or to any broker."""
        broker = self._leaders.get(partition) or self._random.choice(self._brokers)
        answer = await self.ask(broker, produce_to(data, partition, acks), PRODUCE_VERSION)
        found = broker if _error_of(answer) == ErrorCode.NONE else _leader_of(answer)
        self._leaders.pop(partition, None)
        if found in self._brokers:
            self._leaders[partition] = found

    async def ask(self, broker: int, message: Message, version: int) -> Message | None:
        """Return the answer to a request; None without an answer."""
        try:
            connection = await connect(self._scope, self._network, broker, MAX_WAIT_NS)
            answer = await connection.call(message, version, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            return None
        connection.close()
        return answer

    async def produce(self, world: World) -> None:
        """Produce batches in series to a partition, until the final phase."""
        producer_id, sent = await self.new_producer_id(), list[bytes]()
        random, partition, sequence = self._random, self._random.randrange(PARTITIONS), 0
        while not world.is_in_final_phase:
            await self._scope.sleep(random.randrange(LONGEST_REST_NS))
            count = random.randint(1, 3)
            values = [f"{producer_id}-{sequence + delta}".encode() for delta in range(count)]
            data = client_batch(values, NO_TIMESTAMP, (producer_id, 0, sequence))
            if await self.repeat(data, partition):
                sent = [*sent, data][-MOST_IN_FLIGHT:]
                await self._send_again(sent, partition, (producer_id, 0, sequence), count)
                sequence += count
            else:
                producer_id, sequence, sent = await self.new_producer_id(), 0, []

    async def _send_again(
        self, sent: list[bytes], partition: int, last: tuple[int, int, int], count: int
    ) -> None:
        """Send one of the last batches again, or the last one with another number of records.

        A producer with batches in flight repeats older ones, too; a client with a bug cuts its
        batches anew. The leader answers the first with the old offset, and refuses the second.
        """
        kind = self._apart.random()
        if kind < AGAIN_SHARE:
            await self.send(self._apart.choice(sent), partition, acks=-1)
        elif kind < AGAIN_SHARE + RECUT_SHARE:
            values = [f"recut-{delta}".encode() for delta in range(count + 1)]
            await self.send(client_batch(values, NO_TIMESTAMP, last), partition, acks=-1)

    async def consume(self) -> None:
        """Fetch from random offsets."""
        random = self._random
        while True:
            await self._scope.sleep(random.randrange(LONGEST_REST_NS))
            part = fetch_request.FetchPartition(
                partition=random.randrange(PARTITIONS),
                fetch_offset=random.choice((0, random.randrange(300))),
                partition_max_bytes=random.choice((1, 1 << 20)),
                current_leader_epoch=self._draw_epoch(),
            )
            topic = fetch_request.FetchTopic(topic=NAME, partitions=(part,))
            request = fetch_request.FetchRequest(
                replica_id=-1,
                max_wait_ms=random.choice((0, 300)),
                min_bytes=1,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=(topic,),
            )
            await self.ask(random.choice(self._brokers), request, FETCH_VERSION)

    def _draw_epoch(self) -> int:
        """Return the leader epoch that a consumer knows: most know none, some an old one."""
        is_known = self._apart.random() < KNOWN_EPOCH_SHARE
        return self._apart.randrange(LARGEST_KNOWN_EPOCH) if is_known else NO_EPOCH

    async def new_producer_id(self) -> int:
        """Ask brokers for the id of a new producer until one answers."""
        while True:
            request = init_producer_id_request.InitProducerIdRequest(transaction_timeout_ms=1)
            answer = await self.ask(self._random.choice(self._brokers), request, INIT_VERSION)
            match answer:
                case InitProducerIdResponse(error_code=ErrorCode.NONE, producer_id=found):
                    return found
                case _:
                    pass
            await self._scope.sleep(milliseconds(200))

    async def repeat(self, data: bytes, partition: int) -> bool:
        """Send a batch until the outcome is sure; return False for a refused sequence."""
        random, broker = self._random, self._random.choice(self._brokers)
        while True:
            request = produce_to(data, partition, random.choice(_ACKS))
            answer = await self.ask(broker, request, PRODUCE_VERSION)
            error = _error_of(answer)
            if error == ErrorCode.NONE:
                return True
            if error in {ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.INVALID_PRODUCER_EPOCH}:
                return False
            broker = _leader_of(answer) or random.choice(self._brokers)
            if broker not in self._brokers:
                broker = random.choice(self._brokers)
            await self._scope.sleep(milliseconds(50))


def produce_to(data: bytes, partition: int, acks: int) -> produce_request.ProduceRequest:
    """Return the Produce of a batch to a partition of the background topic."""
    part = produce_request.PartitionProduceData(index=partition, records=data)
    topic = produce_request.TopicProduceData(name=NAME, partition_data=(part,))
    return produce_request.ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=(topic,))


def _result(answer: Message | None) -> produce_response.PartitionProduceResponse | None:
    if not isinstance(answer, produce_response.ProduceResponse):
        return None
    if not answer.responses or not answer.responses[0].partition_responses:
        return None
    return answer.responses[0].partition_responses[0]


def _error_of(answer: Message | None) -> int | None:
    result = _result(answer)
    return None if result is None else result.error_code


def _leader_of(answer: Message | None) -> int | None:
    result = _result(answer)
    return (
        None
        if result is None or result.current_leader.leader_id < 1
        else (result.current_leader.leader_id)
    )


def _create(random: Random, replicas: int) -> create_topics_request.CreateTopicsRequest:
    configs = {"flush.messages": "1"}
    if Random(f"{copy(random).random()}/ageless").random() < AGELESS_SHARE:
        configs["retention.ms"] = "-1"
    if random.random() < 0.5 and replicas > 1:
        configs["min.insync.replicas"] = "2"
    return creation(NAME, PARTITIONS, replicas, configs, timeout_ms=MAX_WAIT_NS // milliseconds(1))
