"""Play the controllers, the image, the clock and the disk of a broker, beside its models."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.brokers.membership_model import (
    MS,
    NOBODY,
    Asked,
    MembershipModel,
)
from kraftproof.cluster.simulated.differential.brokers.membership_play import (
    Chances,
    draw_answer,
)
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.door.controllers import draw_block, draw_versions
from kraftproof.cluster.simulated.differential.door.creation_model import (
    Creation,
    CreationModel,
)
from kraftproof.cluster.simulated.differential.door.forward_model import (
    NOT_CONTROLLER,
    TIMED_OUT,
    UNKNOWN_SERVER_ERROR,
    UNSUPPORTED_VERSION,
    ForwardModel,
    Held,
)
from kraftproof.cluster.simulated.differential.door.led_partition import LedPartition
from kraftproof.cluster.simulated.differential.door.producer_model import ProducerModel
from kraftproof.cluster.simulated.differential.door.rig import DoorRig
from kraftproof.cluster.simulated.differential.door.versions_model import Asked as Controller
from kraftproof.cluster.simulated.differential.door.versions_model import VersionsModel
from kraftproof.cluster.simulated.differential.door.view import View
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import EndRequest, Flush
from kraftproof.node.core.events import DirectoryFailed, Flushed, TimestampFound
from kraftproof.node.core.log_effects import FindTimestamp
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    api_versions_request,
    broker_registration_response,
    create_topics_response,
    envelope_response,
)

CONTROLLERS: Final = (7, 8, 9)
FAR: Final = 1_000
"""The distance of two blocks of producer ids."""
REFUSED_ENVELOPES: Final = (31, 58, -1)
"""Errors of an Envelope that are about the broker itself."""
Allocate = allocate_producer_ids_request.AllocateProducerIdsRequest
AskVersions = api_versions_request.ApiVersionsRequest


class Open(Struct):
    """A request of the broker without an answer."""

    correlation: int
    cause: Asked | Controller | Creation | Held | None
    """The model's cause; None for a block of producer ids."""


class Neighbours:
    """A broker, its neighbours, and the models that state its next effects."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.view = View(random)
        start = random.randint(0, 9)
        chances = Chances()
        chances.is_longest = is_longest = random.random() < 0.5
        self.rig = DoorRig(self.view, chances, start)
        times = self.view.config.timeouts
        self.membership = MembershipModel(times, start, is_longest=is_longest)
        self.forwards = ForwardModel(times, is_longest=is_longest)
        self.versions = VersionsModel(self.view.config, is_longest=is_longest)
        self.producers = ProducerModel(times)
        self.creations = CreationModel()
        self.led = LedPartition(self.view, start)
        self.requests = 0
        self.due: dict[int, Callable[[Any], None]] = {}
        """The comparisons of the answers that the step must give, by request."""
        self.controllers: dict[int, Callable[[Random], Message]] = {}
        """By forwarded request: draws the answer of a controller."""
        self.searching: int | None = None
        """The request whose search begins in the step."""
        self.has_ended = False
        self.ends: list[EndRequest] = []
        self.opened: list[Open] = []
        self.flushes: list[Flush] = []
        self.searches: list[tuple[FindTimestamp, int]] = []
        self._epochs = 5
        self.exits: list[str] = []
        """A word of the reason of each further end of the step."""

    @property
    def leader(self) -> int:
        """Return the active controller that the broker knows."""
        return self.rig.quorum.leader

    @property
    def broker_epoch(self) -> int:
        """Return the epoch of the broker's registration; -1 without a registration."""
        return -1 if self.membership.epoch is None else self.membership.epoch

    @property
    def has_open(self) -> bool:
        """Return whether a request of the broker waits for an answer."""
        return bool(self.opened)

    @property
    def has_disk_work(self) -> bool:
        """Return whether a flush or a search is under way."""
        return bool(self.flushes or self.searches)

    # The steps

    def wait(self) -> None:
        """Let time pass, mostly up to the next time of the broker."""
        at = self.next_time()
        wanted = self.rig.now_ns + self.random.randint(0, 90 * MS)
        if at is not None:
            wanted = self.random.choice((at, at, at - 1, at + 1))
        self._wait_until(wanted)

    def wait_for_next(self) -> None:
        """Let time pass up to the next time of the broker."""
        self._wait_until(self.next_time() or 0)

    def _wait_until(self, wanted: int) -> None:
        rig = self.rig
        rig.now_ns = now = max(rig.now_ns, wanted)
        rig.broker.tick(rig.now)
        self.membership.tick(now)
        self.forwards.tick(self.leader, now)
        self.versions.tick(now)
        self.producers.tick(self.leader, self.broker_epoch, now)
        self.led.tick(now)

    def lead(self) -> None:
        """Let another controller lead, or none, or this node."""
        own = self.view.config.node_id
        self._lead(self.random.choice((NOBODY, *CONTROLLERS, *CONTROLLERS, own)))

    def lead_elsewhere(self) -> None:
        """Let another node lead."""
        self._lead(self.random.choice(CONTROLLERS))

    def _lead(self, leader: int) -> None:
        quorum = self.rig.quorum
        quorum.leader = NodeId(leader)
        quorum.epoch += self.random.choice((0, 1, 1))
        self.membership.known.leader = leader

    def apply(self) -> None:
        """Let the committed image grow."""
        self.view.grow(self.membership)
        self.rig.publish(self.view)

    def stop(self) -> None:
        """Ask the broker to end."""
        self.rig.broker.stop(self.rig.now)
        self.membership.stop(self.rig.now_ns)

    def fail(self) -> None:
        """Let the disk of a working log directory fail; the last failure ends the broker."""
        view, now_ns = self.view, self.rig.now_ns
        working = [one for one in view.config.log_dirs if one not in view.failed]
        if not working:
            return
        directory = self.random.choice(working)
        event = DirectoryFailed(directory=directory, reason="/x: no space")
        self.rig.broker.disk_work_ended(event, self.rig.now)
        view.failed.append(directory)
        self.membership.directory_failed(directory, now_ns)
        if directory == view.config.log_dirs[0]:
            self.led.fail()
            self.flushes.clear()
            self.searches.clear()
        if len(working) == 1:
            self.exits.append(event.reason)

    def work_on_disk(self) -> None:
        """End a flush or a search of the led partition."""
        broker, now = self.rig.broker, self.rig.now
        if self.flushes and (self.random.random() < 0.5 or not self.searches):
            flush = self.flushes.pop(0)
            end = flush.end_offset
            broker.disk_work_ended(
                Flushed(log=flush.log, generation=flush.generation, end_offset=end), now
            )
            self.led.flushed = max(self.led.flushed, end)
            return
        search, request = self.searches.pop(0)
        offset = self.random.choice((0, 1))
        self.due[request] = partial(_same_offset, offset)
        found = TimestampFound(
            token=search.token, offset=Offset(offset), timestamp_ms=60, epoch=Epoch(0)
        )
        broker.disk_work_ended(found, now)

    def answer(self) -> None:
        """Answer an open request of the broker: rightly, wrongly, or not."""
        one = self.opened.pop(self.random.randrange(len(self.opened)))
        match one.cause:
            case Asked():
                self._epochs += self.random.randint(1, 2)
                message = draw_answer(
                    self.random, self.membership, one.cause, self.rig.now_ns, self._epochs
                )
            case Creation():
                self.creations.answered(one.cause)
                message = self.random.choice((None, create_topics_response.CreateTopicsResponse()))
            case Held():
                message = self._decide(one.cause)
            case None:
                message = self._allocate()
            case asked:
                message = self._tell_versions(asked)
        self.rig.answer(one.correlation, message)

    def register(self) -> None:
        """Answer the registration of the broker rightly."""
        (one,) = (one for one in self.opened if isinstance(one.cause, Asked))
        self.opened.remove(one)
        assert isinstance(one.cause, Asked), "the first request of a broker"
        self.membership.registered(one.cause, 0, self._epochs, self.rig.now_ns)
        module = broker_registration_response
        answer = module.BrokerRegistrationResponse(broker_epoch=self._epochs)
        self.rig.answer(one.correlation, answer)

    def _decide(self, held: Held) -> Message | None:
        """Answer a forwarded request."""
        request, kind = held.event.request, self.random.random()
        if kind < 0.5:
            answer = self.controllers[request](self.random)
            self.due[request] = partial(judged, held, answer)
            return answer
        if kind < 0.6:
            self.due[request] = partial(judged, held, TIMED_OUT)
            return None
        error = self.random.choice(REFUSED_ENVELOPES)
        if kind < 0.85:
            error = NOT_CONTROLLER
            self.forwards.untried(held, self.rig.now_ns)
        elif kind < 0.92:
            error = UNSUPPORTED_VERSION
            self.ends.append(EndRequest(request=request, closes_connection=True))
        else:
            self.due[request] = partial(judged, held, UNKNOWN_SERVER_ERROR)
        return envelope_response.EnvelopeResponse(error_code=error)

    def _allocate(self) -> Message | None:
        """Answer a request for a block of producer ids."""
        self._epochs += 1
        ids, message = draw_block(self.random, self._epochs * FAR)
        self.producers.answered(ids, self.leader, self.broker_epoch, self.rig.now_ns)
        return message

    def _tell_versions(self, asked: Controller) -> Message | None:
        """Answer the question for the versions of a controller."""
        versions, message = draw_versions(self.random)
        self.versions.answered(asked, versions, self.rig.now_ns)
        return message

    def next_time(self) -> int | None:
        """Return the earliest time at which a part of the broker acts."""
        times = [
            self.membership.next_time(),
            self.forwards.next_time(),
            self.versions.next_time(),
            self.producers.next_time(),
            self.led.next_time(),
        ]
        return min((at for at in times if at is not None), default=None)


def judged(held: Held, found: Message | int, answer: Any) -> None:  # noqa: ANN401 - of many classes
    """Compare a client's answer with the controller's answer, or with an error."""
    held.judge(answer, found)


def _same_offset(offset: int, answer: Any) -> None:  # noqa: ANN401 - of many classes
    found = [(part.error_code, part.offset) for topic in answer.topics for part in topic.partitions]
    same("the found offset", found, [(0, offset)])
