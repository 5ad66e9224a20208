"""Ask a controller with each kind of request, and let its leadership end in each of its states.

A request may wait for its own record, for a read barrier, for a large change before it, or for the
first record of the leader. At the end of the leadership each has its answer at once: a client that
waits for its own time-out cannot ask the next controller (KIP-631). A written change may still
commit, which REQUEST_TIMED_OUT says; NOT_CONTROLLER says that nothing was written (KIP-590).
"""

from random import Random
from typing import Final, cast

from kraftproof.cluster.simulated.differential.core.bare_controller import (
    CLUSTER_ID,
    BareController,
)
from kraftproof.cluster.simulated.differential.core.registrations import registration
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.invariants.answers import OF_THE_CONTROLLER
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    create_topics_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

LEADERSHIPS: Final = 2
BROKER: Final = 4
MOST_REQUESTS: Final = 8
MOST_TICKS: Final = 30
LARGE: Final = 510
"""Partitions of a change that one step does not apply."""
TIMEOUT_MS: Final = 60_000
KINDS: Final = tuple(
    cast("Message", schema.message())
    for schema in REQUESTS.values()
    if issubclass(schema.message, OF_THE_CONTROLLER)
)


def compare_lost_leaderships(random: Random) -> None:
    """End some leaderships, and compare the answers that each end gives.

    Raises:
        DifferenceError: a request stays open, or has another error.
    """
    run = _Run(random)
    for _ in range(LEADERSHIPS):
        run.lead()


class _Run:
    """The controller and its requests."""

    def __init__(self, random: Random) -> None:
        self._random = random
        long_ns = milliseconds(1 << 40)
        timeouts = Timeouts(request_ns=milliseconds(TIMEOUT_MS), session_ns=long_ns)
        self._controller = controller = BareController(random, timeouts)
        self._written: dict[int, bool] = {}
        """Whether each open request has written a record, by number."""
        self._topics = 0
        self._creations: dict[str, int] = {}
        """The number of each creation, by the name of the topic."""
        directory = Uuid(bytes([BROKER]) * 16)
        self._ask(registration(random, BROKER, CLUSTER_ID, None, (directory,)))
        epoch = controller.quorum.log.last.base_offset
        controller.commit()
        self._ask(
            broker_heartbeat_request.BrokerHeartbeatRequest(
                broker_id=BROKER, broker_epoch=epoch, current_metadata_offset=epoch
            )
        )
        self._settle()

    def lead(self) -> None:
        """Ask during a leadership, end the leadership, and begin another."""
        random, controller, quorum = self._random, self._controller, self._controller.quorum
        if random.random() < 0.6:
            self._ask(self._creation(LARGE))
        for _ in range(random.randint(1, MOST_REQUESTS)):
            is_creation = random.random() < 0.3
            self._ask(self._creation(1) if is_creation else random.choice(KINDS))
            if random.random() < 0.1:
                controller.commit(but_last=True)
            if random.random() < 0.1:
                controller.tick()
        self._take()
        quorum.resign()
        controller.commit()
        self._judge_the_end()
        if random.random() < 0.5:
            self._ask(random.choice(KINDS))
            self._judge_the_end()
        quorum.elect()
        for _ in range(random.randint(0, MOST_REQUESTS)):  # they wait for the leader's first record
            self._ask(self._creation(1) if random.random() < 0.3 else random.choice(KINDS))
        if random.random() < 0.5:
            quorum.resign()
            controller.commit()
            self._judge_the_end()
            quorum.elect()
        self._settle()

    def _creation(self, partitions: int) -> Message:
        self._topics += 1
        topic = create_topics_request.CreatableTopic(
            name=f"t{self._topics}", num_partitions=partitions, replication_factor=1
        )
        return create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=TIMEOUT_MS)

    def _ask(self, message: Message) -> None:
        self._take()
        number = self._controller.ask(message, message.MAX_VERSION)
        if isinstance(message, create_topics_request.CreateTopicsRequest):
            self._creations.update({topic.name: number for topic in message.topics})
        written = [record for _, record in self._controller.taken()]
        is_written = any(not isinstance(one, records.NoOpRecord) for one in written)
        self._written[number] = is_written
        self._drop_answered()

    def _take(self) -> None:
        """Note the changes that waited for a larger one, and forget what is answered."""
        for _, record in self._controller.taken():
            if isinstance(record, records.TopicRecord):
                self._written[self._creations[record.name]] = True
        self._drop_answered()

    def _drop_answered(self) -> None:
        for reply in self._controller.answered():
            del self._written[reply.request]

    def _judge_the_end(self) -> None:
        """Compare the answers at the end of a leadership."""
        for reply in self._controller.answered():
            is_written = self._written.pop(reply.request)
            error = ErrorCode.REQUEST_TIMED_OUT if is_written else ErrorCode.NOT_CONTROLLER
            codes = error_codes(reply.message) or {error}
            same(f"the end of {type(reply.message).__name__}", set(codes), {error})
        same("the open requests of a former controller", self._controller.unanswered, set())

    def _settle(self) -> None:
        """Commit everything, until nothing is open."""
        for _ in range(MOST_TICKS):
            self._controller.commit()
            if not self._controller.unanswered:
                break
            self._controller.tick()
        self._take()
        check("an active controller answers every request", not self._controller.unanswered)
