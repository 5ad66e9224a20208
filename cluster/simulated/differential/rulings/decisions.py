"""Let a controller decide drawn requests, and compare each result with the specification.

The requests are those of the loads of a run: of administrators, of brokers, and random ones. A run
asks some hundred times in a minute, and here a second of the processor is enough for as many.
"""

from collections.abc import Callable
from copy import copy
from random import Random
from typing import Final, cast

from msgspec.structs import replace

from kraftproof.cluster.simulated.background.operators.administrative_requests import (
    draw_request,
    topics_to_create,
)
from kraftproof.cluster.simulated.background.operators.cluster_requests import UPDATES
from kraftproof.cluster.simulated.background.operators.users_and_quotas import with_defaults
from kraftproof.cluster.simulated.differential.core import registrations
from kraftproof.cluster.simulated.differential.core.broker_requests import assignment, proposal
from kraftproof.cluster.simulated.differential.core.deciding_node import CLUSTER_ID, DecidingNode
from kraftproof.cluster.simulated.differential.core.moves import (
    begun,
    cancelled,
    joined,
    partition_to_move,
)
from kraftproof.cluster.simulated.differential.core.shutdown_grants import ShutdownGrants
from kraftproof.cluster.simulated.differential.core.token_requests import TokenRequests
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.rulings.focused_requests import ask_focused
from kraftproof.cluster.simulated.invariants.answers import OF_THE_CONTROLLER
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification
from kraftproof.cluster.systems.reference.requests.messages import draw_message
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.controller.partitions.fencing import fence
from kraftproof.node.core.controller.refusals import has_refusal
from kraftproof.node.core.metadata.version import LARGEST_LEVEL, METADATA_VERSION
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_client_quotas_request,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_response,
    create_topics_response,
    unregister_broker_request,
    update_features_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

BROKERS: Final = (4, 5, 6, 7)
MOST_REQUESTS: Final = 120
"""Number of requests of a draw."""
COMPARED_EACH: Final = 10
"""Number of requests after which the images are compared."""
OLD_LEVELS: Final = (None, 7, 13, 14, 16)
"""The first levels of metadata.version; None for the newest level."""
OLD_REQUESTS: Final = 20
"""Number of requests at an old level, whose entities the newest level inherits."""
VERSIONS: Final = served_versions(on_controller_listener=True)
EMPTY: Final = tuple(cast("Message", one.message()) for one in REQUESTS.values())
REFUSED: Final = tuple(filter(has_refusal, EMPTY))
"""The requests that a node may refuse as a whole."""
UPDATES_OF_FEATURES: Final = 20
"""Updates of the finalized levels at the end of a draw; a load of a run only validates them."""
TOKEN_REQUESTS: Final = 12  # at the end of a draw, beside those among the others
Decisions = Callable[[Random], None]


def decisions_with(make_specification: MakeSpecification) -> Decisions:
    """Return the comparison of a controller's decisions with a specification."""

    def compare_decisions(random: Random) -> None:
        asking = _Asking(random, make_specification)
        for request in REFUSED:
            asking.node.refuse(request)
        for number in range(MOST_REQUESTS):
            if number == OLD_REQUESTS:
                asking.upgrade()
            asking.ask()
            if number % COMPARED_EACH == 0:
                asking.node.compare()
        for _ in range(UPDATES_OF_FEATURES):
            asking.update_features()
        for _ in range(TOKEN_REQUESTS):
            asking.tokens.ask()
        asking.node.compare()
        ask_focused(asking.node, random, asking.vocabulary)

    return compare_decisions


class _Asking:
    """The brokers and clients of a controller."""

    def __init__(self, random: Random, make_specification: MakeSpecification) -> None:
        self.random = random
        # A copy draws the level, so that recorded seeds keep their runs.
        level = copy(random).choice(OLD_LEVELS)
        self.node = DecidingNode(random, make_specification, level)
        self.vocabulary = Vocabulary(cluster_id=CLUSTER_ID, brokers=BROKERS)
        self._directories = {
            broker: tuple(Uuid(random.randbytes(16)) for _ in range(random.choice((1, 1, 2))))
            for broker in BROKERS
        }
        self.tokens = TokenRequests(random, self.node)
        self._grants = ShutdownGrants()
        self._racks = {broker: random.choice((None, "east", "west")) for broker in BROKERS}
        for broker in BROKERS:
            self._register(broker)
            self._beat(broker, wants_fence=False)
        self._create()

    def upgrade(self) -> None:
        """Write the newest level that the brokers support; what is older stays as it is."""
        image = self.node.image
        entries = [entry for one in image.sorted_brokers() for entry in one.features]
        limits = [one.max_supported_version for one in entries if one.name == METADATA_VERSION]
        level = min(limits, default=LARGEST_LEVEL)
        if level > image.features[METADATA_VERSION]:
            self.node.write(
                (records.FeatureLevelRecord(name=METADATA_VERSION, feature_level=level),)
            )

    def ask(self) -> None:
        """Send a request, some time after the last request."""
        self.node.passes(self.random.choice((1, 100, 1_000)))
        drawn = self.random.random()
        if drawn < 0.2:
            self._live(self.random.choice(BROKERS))
        elif drawn < 0.25:
            self._create()
        elif drawn < 0.35:
            self._ask_anything()
        elif drawn < 0.5:
            self._ask_as_broker(self.random.choice(BROKERS))
        elif drawn < 0.55:
            self.tokens.ask()
        elif drawn < 0.6:
            self._move()
        else:
            asked = draw_request(self.random, self.vocabulary, self.node.image)
            if asked is not None and isinstance(asked.message, OF_THE_CONTROLLER):
                message = asked.message
                if isinstance(message, alter_client_quotas_request.AlterClientQuotasRequest):
                    message = with_defaults(copy(self.random), message)
                self.node.ask(message, asked.version)

    def _ask_anything(self) -> None:
        kind = self.random.choice(OF_THE_CONTROLLER)
        least, most = VERSIONS.get(kind.API_KEY, (kind.MIN_VERSION, kind.MAX_VERSION))
        version = self.random.randint(least, most)
        message = draw_message(kind.API_KEY, version, self.vocabulary, self.random)
        if message is not None:
            self.node.ask(message, version)

    def _move(self) -> None:
        """Move a partition, let a new replica into the ISR, and maybe cancel the move."""
        node, random = self.node, self.random
        key = partition_to_move(random, node.image)
        if key is None:
            return
        node.ask(begun(node.image, key, BROKERS), 1)
        proposal_of_leader = joined(random, node.image, key)
        if proposal_of_leader is not None:
            node.ask(proposal_of_leader, proposal_of_leader.MAX_VERSION)
        if random.random() < 0.7:
            node.ask(cancelled(node.image, key), 1)

    def update_features(self) -> None:
        """Set the levels of features, or only validate that."""
        drawn = UPDATES(self.random, self.vocabulary)
        assert isinstance(drawn, update_features_request.UpdateFeaturesRequest), "its request"
        request = replace(drawn, validate_only=self.random.random() < 0.3)
        source = copy(self.random)
        request = registrations.at_a_limit(source, request, self.node.image)
        request = registrations.near_the_present(source, request, self.node.image)
        self.node.ask(request, request.MAX_VERSION)

    def _create(self) -> None:
        asked = topics_to_create(self.random, self.vocabulary)
        answer = self.node.ask(asked.message, asked.version)
        assert isinstance(answer, create_topics_response.CreateTopicsResponse), "its answer"
        for topic in answer.topics:
            if any(topic.topic_id):
                self.vocabulary.remember(topic.topic_id)

    # The life of a broker

    def _ask_as_broker(self, broker: int) -> None:
        """Ask in the name of a broker, by its epoch."""
        random, epoch = self.random, self._epoch(broker)
        message: Message
        match random.randrange(4):
            case 0:
                message = allocate_producer_ids_request.AllocateProducerIdsRequest(
                    broker_id=broker, broker_epoch=epoch
                )
            case 1:
                message = assignment(random, self.node.image, broker, self._directories[broker])
            case _:
                message = proposal(random, self.node.image, broker)
        self.node.ask(message, message.MAX_VERSION)

    def _live(self, broker: int) -> None:
        registered = self.node.image.brokers.get(NodeId(broker))
        drawn = self.random.random()
        if registered is None or drawn < 0.15:
            self.node.passes(20_000 if self.random.random() < 0.8 else 0)
            self._register(broker)
        elif drawn < 0.25 and not registered.fenced:
            self.node.write_own("a fencing", fence(self.node.image, registered))
        elif drawn < 0.3:
            request = unregister_broker_request.UnregisterBrokerRequest(broker_id=broker)
            self.node.ask(request, 0)
        elif drawn < 0.4 and not registered.fenced:
            self._stop(broker)
        else:
            self._beat(broker, wants_fence=drawn < 0.45)

    def _register(self, broker: int) -> None:
        random = self.random
        of_others = [self._directories[one] for one in BROKERS if one != broker]
        request = registrations.registration(
            random, broker, CLUSTER_ID, self._racks[broker], self._directories[broker]
        )
        previous = self._epoch(broker) if random.random() < 0.5 else -1
        request = replace(request, previous_broker_epoch=previous)
        request = registrations.at_few_levels(copy(random), request)
        if random.random() < 0.2:
            request = registrations.spoiled(random, request, of_others)
        answer = self.node.ask(request, request.MAX_VERSION)
        assert isinstance(answer, broker_registration_response.BrokerRegistrationResponse)

    def _epoch(self, broker: int) -> int:
        registered = self.node.image.brokers.get(NodeId(broker))
        return -1 if registered is None else registered.epoch

    def _stop(self, broker: int) -> None:
        """Ask for a shutdown, until the other brokers have read just the moves or almost."""
        self._beat(broker, wants_fence=False, wants_stop=True)
        others = [each for each in BROKERS if each != broker]
        for other in self.random.sample(others, len(others)):
            self._beat(other, wants_fence=False)
            self._beat(broker, wants_fence=False, wants_stop=self.random.random() < 0.7)
        self._beat(broker, wants_fence=False, wants_stop=True)

    def _beat(self, broker: int, *, wants_fence: bool, wants_stop: bool | None = None) -> None:
        """Send a heartbeat, which may name failed directories or ask for a shutdown."""
        random, node, directories = self.random, self.node, self._directories[broker]
        failed = random.random() < 0.05 and len(directories) > 1
        offset = node.offset - random.choice((1, 1, 1, 2, 100))
        if self._grants.awaited and random.random() < 0.5:
            offset = Offset(self._grants.awaited[-1] - random.choice((0, 0, 0, 1)))
        beat = broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=broker,
            broker_epoch=self._epoch(broker) + (random.random() < 0.05),
            current_metadata_offset=offset,
            want_fence=wants_fence,
            want_shut_down=random.random() < 0.06 if wants_stop is None else wants_stop,
            offline_log_dirs=directories[:1] if failed else (),
        )
        expected = self._grants.expected(node.image, beat)
        answer = node.ask(beat, beat.MAX_VERSION)
        self._grants.decided(beat, node.image, node.offset - 1)
        assert isinstance(answer, broker_heartbeat_response.BrokerHeartbeatResponse), "its answer"
        if expected is not None:
            same(f"the grant of a shutdown to broker {broker}", answer.should_shut_down, expected)
