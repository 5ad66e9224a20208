"""Compare which requests have a quota of processing time, for each kind and version (KIP-124).

Requests between nodes are exempt, a Produce without an answer, and the Fetch of a replica. A Fetch
names the replica in a field of its own, and from version 15 in the state of the replica (KIP-903).
"""

from collections.abc import Iterator
from random import Random
from typing import Final, cast

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.rules.quota_model import SECOND_NS, image_of
from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.wire.codec import REQUESTS, decode_request, encode_request
from kraftproof.node.wire.messages import Message, fetch_request, produce_request
from kraftproof.node.wire.principal import Principal

Fetch = fetch_request.FetchRequest
STATE_FROM: Final = 15
"""The version of Fetch that names the replica in its state."""
OF_NODES: Final = frozenset(
    (
        *("AllocateProducerIds", "AlterPartition", "AssignReplicasToDirs", "BeginQuorumEpoch"),
        *("BrokerHeartbeat", "BrokerRegistration", "ControllerRegistration", "EndQuorumEpoch"),
        *("FetchSnapshot", "Vote"),
    )
)
"""The requests that only nodes send."""
REPLICAS: Final = (0, 1, 1000, (1 << 31) - 1)
CONSUMERS: Final = (-1, -2)
"""The ids of a consumer and of a debugging consumer."""


def compare_exempt_requests(random: Random) -> None:
    """Take a second of a thread for each kind of request, and compare who must wait.

    Raises:
        DifferenceError: a request between nodes must wait, or a client's request need not.
    """
    times = RequestTimes(QuotaPolicy())
    times.follow(image_of([({"user": None}, {"request_percentage": 1.0})]))
    now = random.choice((0, 5)) * SECOND_NS
    for message, version, is_exempt in _requests(random):
        event = Received(
            request=1,
            message=decode_request(message.API_KEY, version, encode_request(message, version)),
            version=version,
            on_controller_listener=random.random() < 0.5,
            principal=Principal(type="User", name=random.choice("uv")),
            client_host="h",
            client_id=random.choice("cd"),
        )
        wait_ms = times.record(event, SECOND_NS, Monotonic(now))
        what = f"the wait for {type(message).__name__} v{version}"
        if is_exempt:
            same(what, wait_ms, 0)
        else:
            check(what, wait_ms > 0)
        now += random.choice((0, 1, SECOND_NS))


def _requests(random: Random) -> Iterator[tuple[Message, int, bool]]:
    """Return requests of each kind and version, and whether they are exempt."""
    for schema in REQUESTS.values():
        name = schema.message.__name__.removesuffix("Request")
        for version in range(schema.min_version, schema.max_version + 1):
            if name == "Fetch":
                yield from _fetches(random, version)
            elif name == "Produce":
                yield from _produces(version)
            else:
                yield cast("Message", schema.message()), version, name in OF_NODES


def _fetches(random: Random, version: int) -> Iterator[tuple[Message, int, bool]]:
    for replica in (random.choice(REPLICAS), random.choice(CONSUMERS)):
        state = fetch_request.ReplicaState(replica_id=replica, replica_epoch=random.choice((-1, 7)))
        fetch = Fetch(max_wait_ms=0, min_bytes=0, topics=())
        if version < STATE_FROM:
            fetch = replace(fetch, replica_id=replica)
        else:
            fetch = replace(fetch, replica_state=state)
        yield fetch, version, replica >= 0


def _produces(version: int) -> Iterator[tuple[Message, int, bool]]:
    for acks in (-1, 0, 1):
        request = produce_request.ProduceRequest(acks=acks, timeout_ms=1, topic_data=())
        yield request, version, acks == 0
