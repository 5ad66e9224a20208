"""Compare the waits of clients with quotas with a model (KIP-13, KIP-124, KIP-599, KIP-612)."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.rules.quota_model import (
    ADDRESSES,
    CLIENTS,
    CONNECTIONS,
    IP,
    LONGEST_MS,
    MS_NS,
    NOTATIONS,
    SECOND_NS,
    USERS,
    Budget,
    Quota,
    Rate,
    bound_of,
    draw_quotas,
    image_of,
)
from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.quotas.client_rates import ClientRates
from kraftproof.node.core.quotas.connection_rates import ConnectionRates
from kraftproof.node.core.quotas.mutations import MutationQuotas
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    begin_quorum_epoch_request,
    broker_heartbeat_request,
    broker_registration_request,
    controller_registration_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    metadata_request,
    produce_request,
    vote_request,
)
from kraftproof.node.wire.principal import Principal

STEPS: Final = 120
BYTES, TIME, CHANGES = "producer_byte_rate", "request_percentage", "controller_mutation_rate"
STRICT_FROM: Final = {
    create_topics_request.CreateTopicsRequest: 6,
    create_partitions_request.CreatePartitionsRequest: 3,
    delete_topics_request.DeleteTopicsRequest: 5,
}
_REPLICA: Final = fetch_request.ReplicaState(replica_id=0)
EXEMPT: Final[tuple[Message, ...]] = (
    produce_request.ProduceRequest(acks=0, timeout_ms=1, topic_data=()),
    fetch_request.FetchRequest(replica_id=0, max_wait_ms=0, min_bytes=0, topics=()),
    fetch_request.FetchRequest(replica_state=_REPLICA, max_wait_ms=0, min_bytes=0, topics=()),
    alter_partition_request.AlterPartitionRequest(broker_id=1),
    broker_heartbeat_request.BrokerHeartbeatRequest(
        broker_id=1, current_metadata_offset=0, want_fence=False, want_shut_down=False
    ),
    *(
        kind()
        for kind in (
            allocate_producer_ids_request.AllocateProducerIdsRequest,
            assign_replicas_to_dirs_request.AssignReplicasToDirsRequest,
            begin_quorum_epoch_request.BeginQuorumEpochRequest,
            broker_registration_request.BrokerRegistrationRequest,
            controller_registration_request.ControllerRegistrationRequest,
            end_quorum_epoch_request.EndQuorumEpochRequest,
            fetch_snapshot_request.FetchSnapshotRequest,
            vote_request.VoteRequest,
        )
    ),
)
"""Requests between nodes, and a Produce without an answer."""
COUNTED: Final[tuple[Message, ...]] = (
    metadata_request.MetadataRequest(topics=None),
    produce_request.ProduceRequest(acks=1, timeout_ms=1, topic_data=()),
    fetch_request.FetchRequest(max_wait_ms=0, min_bytes=0, topics=()),
)


def compare_quotas(random: Random) -> None:
    """Measure drawn clients, and compare each wait with the model.

    Raises:
        DifferenceError: a client waits for another time.
    """
    clients = _Clients(random)
    for _ in range(STEPS):
        clients.now += random.choice((0, 1, 250, 999, 1000, 1001, 7_000)) * MS_NS
        random.choice(
            (
                clients.move_bytes,
                clients.move_bytes,
                clients.take_time,
                clients.change_topics,
                clients.change_topics,
                clients.connect,
                clients.connect,
            )
        )()
        if random.random() < 0.05:
            clients.alter()


class _Clients:
    """The clients of a node, with their quotas."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.now = random.choice((0, 5)) * SECOND_NS
        self._policy = QuotaPolicy(
            windows=random.choice((1, 2, 11)), window_ns=random.choice((1, 2)) * SECOND_NS
        )
        self._committed = CommittedImage()
        self._bytes = ClientRates(BYTES, self._policy, self._committed)
        self._times = RequestTimes(self._policy)
        self._changes = MutationQuotas(self._policy)
        self._connections = ConnectionRates(self._policy)
        self._moved: dict[Budget, Rate] = {}
        self._taken: dict[Budget, Rate] = {}
        self._opened: dict[str, Rate] = {}
        self._tokens: dict[Budget, tuple[float, int]] = {}
        """The tokens of a budget and the time of its last request; a missing budget is full."""
        self._quotas: list[Quota] = []
        self.alter()

    def alter(self) -> None:
        """Alter the quotas."""
        self._quotas = draw_quotas(self._random, (BYTES, TIME, CHANGES, CONNECTIONS))
        image = image_of(self._quotas)
        self._committed.image = image
        self._times.follow(image)
        self._connections.follow(image)
        has_time = any(TIME in values for _, values in self._quotas)
        same("the time of requests is measured", self._times.is_used, has_time)
        same("bytes are measured", self._bytes.is_used, bool(self._quotas))

    def _event(self, message: Message = COUNTED[0], version: int = 0) -> Received:
        return Received(
            request=1,
            message=message,
            version=version,
            on_controller_listener=False,
            principal=Principal(type="User", name=self._random.choice(USERS)),
            client_host="h",
            client_id=self._random.choice(CLIENTS),
        )

    def _bound(self, key: str, event: Received) -> tuple[float, Budget] | None:
        return bound_of(self._quotas, key, event.principal.name, event.client_id)

    def _rate(self, rates: dict[Budget, Rate], budget: Budget) -> Rate:
        return rates.setdefault(budget, Rate(self._policy.windows, self._policy.window_ns))

    def move_bytes(self) -> None:
        """Move bytes of a client, and take some back."""
        event, now = self._event(), Monotonic(self.now)
        bound = self._bound(BYTES, event)
        same("a client has a quota", self._bytes.applies_to(event), bound is not None)
        size = self._random.choice((0, 1, 2, 64, 1024, 20_000))
        wait_ms = self._bytes.record(event, size, now)
        if bound is None:
            same("a client without a quota", (wait_ms, self._bytes.most_at_once(event)), (0, None))
            return
        rate = self._rate(self._moved, bound[1])
        rate.events.append((self.now, size))
        same("the wait for bytes", wait_ms, rate.wait_ms(bound[0], self.now))
        seconds = max(self._policy.windows - 1, 1) * self._policy.window_ns / SECOND_NS
        same("the bytes at once", self._bytes.most_at_once(event), bound[0] * seconds)
        if wait_ms and self._random.random() < 0.5:
            self._bytes.take_back(event, size, now)
            rate.events.append((self.now, -size))

    def take_time(self) -> None:
        """Process a request of a client, or of a node."""
        is_exempt = self._random.random() < 0.3
        event = self._event(self._random.choice(EXEMPT if is_exempt else COUNTED))
        busy_ns = self._random.choice((0, MS_NS, 10 * MS_NS, SECOND_NS))
        wait_ms = self._times.record(event, busy_ns, Monotonic(self.now))
        bound = self._bound(TIME, event)
        if is_exempt or bound is None:
            same("the wait of a request without a quota", wait_ms, 0)
            return
        rate = self._rate(self._taken, bound[1])
        rate.events.append((self.now, busy_ns * (100 / SECOND_NS)))
        longest_ms = self._policy.window_ns // MS_NS
        due = min(rate.wait_ms(bound[0], self.now), longest_ms)
        same("the wait for the time of requests", wait_ms, due)

    def connect(self) -> None:
        """Open some connections from an address, in any of its notations."""
        address = self._random.choice(ADDRESSES)
        notations = NOTATIONS[address]
        bounds = [
            (names[IP], values[CONNECTIONS])
            for names, values in self._quotas
            if IP in names and values.get(CONNECTIONS, 0.0) > 0
        ]
        own = {bound for name, bound in bounds if name in notations}
        if len(own) > 1:
            return  # several notations of one address, of which the specification has no order
        found = own or {bound for name, bound in bounds if name is None}
        for _ in range(self._random.choice((1, 3, 12))):
            wait_ms = self._connections.wait_ms(self._random.choice(notations), Monotonic(self.now))
            due = 0 if not found else self._connected(address, max(found))
            same(f"the wait of a connection from {address}", wait_ms, due)

    def _connected(self, address: str, bound: float) -> int:
        """Count a connection; return its wait, with which it counts no longer."""
        windows, window_ns = self._policy.windows, self._policy.window_ns
        rate = self._opened.setdefault(address, Rate(windows, window_ns))
        rate.events.append((self.now, 1))
        due = min(rate.wait_ms(bound, self.now), window_ns // MS_NS)
        if due:
            rate.events.append((self.now, -1))
        return due

    def change_topics(self) -> None:
        """Create and delete partitions, by requests of new and of old versions."""
        random = self._random
        kind = random.choice((*STRICT_FROM, metadata_request.MetadataRequest))
        version = STRICT_FROM.get(kind, 0) - random.choice((0, 1))
        event = self._event(kind(), max(version, 0))
        image, now = self._committed.image, Monotonic(self.now)
        charge = self._changes.charge_for(event, image.quotas, now)
        bound = self._bound(CHANGES, event)
        if bound is None or kind not in STRICT_FROM:
            check("a change without a quota is free", charge is None)
            return
        check("a change with a quota is charged", charge is not None)
        assert charge is not None, "checked"
        rate, budget = bound
        most = rate * self._policy.windows * self._policy.window_ns / SECOND_NS
        tokens, since = self._tokens.get(budget, (most, self.now))
        tokens = min(most, tokens + rate * (self.now - since) / SECOND_NS)
        is_strict = version >= STRICT_FROM[kind]
        wait_ms = 0
        for _ in range(random.randint(1, 3)):
            partitions = random.choice((1, 2, 16, 4096))
            is_refused = is_strict and tokens < 0
            tokens -= 0 if is_refused else partitions
            if is_refused or (tokens < 0 and not is_strict):
                wait_ms = max(1, round(min(-tokens / rate * 1000, LONGEST_MS)))
            same("a change is made", charge.take(partitions), not is_refused)
        same("the wait for changes", charge.throttle_ms, wait_ms)
        self._tokens[budget] = (tokens, self.now)
