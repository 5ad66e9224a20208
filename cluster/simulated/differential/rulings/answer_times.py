"""Compare the times and the errors of a controller's answers with rules of KIP-631 and KIP-590.

A controller answers after the commit of a record that it has appended since the request came. A
request has an error at its deadline, and at the end of the leadership: REQUEST_TIMED_OUT if the
change may still commit, else NOT_CONTROLLER. Changes are written in the order of the requests, also
beside a change of several steps.
"""

from collections.abc import Callable
from math import ceil
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.core.bare_controller import (
    CLUSTER_ID,
    BareController,
)
from kraftproof.cluster.simulated.differential.core.registrations import registration
from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_reassignments_request,
    broker_heartbeat_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    elect_leaders_request,
    list_partition_reassignments_request,
    update_features_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

STEPS: Final = 40
BROKER, UNKNOWN = 4, 9
REACHED: Final = 1 << 40
SIZES: Final = (1, 1, 20, 499, 500, 1_500, 1_500)
"""Numbers of partitions of a topic."""
LARGE: Final = (500, 509, 510, 1_009, 1_010, 1_500)
A_STEP, AT_ONCE = 500, 10
"""The number of records that a step applies, and the deciding step of a larger batch."""
MOST_TICKS: Final = 1_000
TIMES_MS: Final = (1, 700, 3_000, 60_000)
NOTHING: Final = -1
LOST, LATE = ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT


class _Asked(Struct, kw_only=True):
    """A request without an answer."""

    name: str
    """The topic to create; empty for a request without a record."""
    log_end: int
    """The end of the log at the arrival."""
    expires_ns: int
    written: int = NOTHING
    """The offset of the request's own record."""


def compare_answer_times(random: Random) -> None:
    """Ask a controller, whose log commits now and then, and judge each answer.

    Raises:
        DifferenceError: an answer is too early, too late, missing, or another one.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()
    run.settle()


class _Run:
    """The controller, and its requests without an answer."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._request_ns = milliseconds(random.choice((500, 2_000)))
        timeouts = Timeouts(request_ns=self._request_ns, session_ns=milliseconds(1 << 40))
        self._controller = BareController(random, timeouts)
        self._quorum = self._controller.quorum
        self._quorum.is_only_voter = random.random() < 0.2
        self._open: dict[int, _Asked] = {}
        self._topics = self._made = 0
        self._no_op = NOTHING
        directory = Uuid(bytes([BROKER]) * 16)
        self._send(registration(random, BROKER, CLUSTER_ID, None, (directory,)), self._request_ns)
        epoch = self._quorum.log.last.base_offset
        self.settle()
        self._send(_heartbeat(BROKER, epoch), self._request_ns)
        self.settle()

    def step(self) -> None:
        """Let something happen, and judge the answers."""
        random, controller, kind = self._random, self._controller, self._random.random()
        if kind < 0.4:
            self._ask()
        elif kind < 0.6:
            controller.commit(but_last=random.random() < 0.3)
        elif kind < 0.72:
            self._pass_time()
        elif kind < 0.82:
            controller.tick()
            self._judge()
            late = [one for one in self._open.values() if one.expires_ns <= controller.now_ns]
            same("the requests behind their deadlines after a tick", late, [])
        elif kind < 0.9:
            self.settle()
        elif kind < 0.94:
            self._change_in_steps()
        else:
            self._change_leader()
        self._judge()

    def settle(self) -> None:
        """Commit everything, and let the controller finish its work."""
        controller, ticks = self._controller, 0
        self._commit()
        while self._is_due():
            controller.tick()
            self._commit()
            ticks += 1
            check("the work of a controller ends", ticks < MOST_TICKS)
        self._commit()
        self._commit()
        same("the open requests of an idle controller", list(self._open.values()), [])

    def _is_due(self) -> bool:
        deadline = self._controller.deadline
        return deadline is not None and deadline <= self._controller.now_ns

    def _commit(self) -> None:
        self._controller.commit()
        self._judge()

    def _pass_time(self) -> None:
        """Let time pass: any time, or up to the next deadline of a request or just before."""
        now_ns = self._controller.now_ns
        ends = [one.expires_ns for one in self._open.values()]
        end_ns = min(ends, default=now_ns) - self._random.choice((0, 0, 1))
        if end_ns <= now_ns or self._random.random() < 0.3:
            end_ns = now_ns + self._random.randrange(self._request_ns)
        self._controller.now_ns = end_ns

    def _change_leader(self) -> None:
        """Replace the leader, and commit the log of the former leader."""
        if self._quorum.is_leader:
            self._quorum.resign()
            self._commit()
            same("the open requests of a former controller", list(self._open.values()), [])
        else:
            self._quorum.elect()
            self._controller.commit(but_last=True)

    # Requests

    def _ask(self) -> None:
        """Send a change, a look-up, or a refused heartbeat."""
        random = self._random
        if random.random() < 0.5:
            self._create(random.choice(SIZES), random.choice(TIMES_MS))
        elif random.random() < 0.2:
            self._send(_heartbeat(UNKNOWN, 0), self._request_ns)
        else:
            kind = random.choice(_LOOK_UPS)
            timeout_ms = random.choice(TIMES_MS if kind is _deletion else (-1, 0, *TIMES_MS))
            wait_ns = milliseconds(timeout_ms) if timeout_ms > 0 else self._request_ns
            self._send(kind(timeout_ms=timeout_ms), wait_ns)

    def _create(self, partitions: int, timeout_ms: int) -> None:
        self._topics += 1
        name = f"t{self._topics}"
        topic = create_topics_request.CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1
        )
        message = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)
        self._send(message, milliseconds(timeout_ms), name)

    def _send(self, message: Message, wait_ns: int, name: str = "") -> None:
        controller = self._controller
        end, expires_ns = self._quorum.log.end_offset, controller.now_ns + wait_ns
        number = controller.ask(message, message.MAX_VERSION)
        self._open[number] = _Asked(name=name, log_end=end, expires_ns=expires_ns)
        self._judge()

    def _change_in_steps(self) -> None:
        """Create a large topic and then a small one, which waits until the large one is applied."""
        self.settle()
        if not self._is_active:
            return
        partitions = self._random.choice(LARGE)
        self._create(partitions, TIMES_MS[-1])
        self._create(1, TIMES_MS[-1])
        self._send(_heartbeat(UNKNOWN, 0), self._request_ns)
        self._commit()
        names = [one.name for one in self._open.values()]
        check("a heartbeat is answered beside a large change", "" not in names)
        ticks = 0
        while self._made < self._topics and ticks < MOST_TICKS:
            self._controller.tick()
            self._judge()
            ticks += 1
        due = ceil((1 + partitions - AT_ONCE) / A_STEP) + 1
        same(f"the steps until {1 + partitions} records are applied", ticks, due)

    # Answers

    @property
    def _is_active(self) -> bool:
        """Whether the leader's first record has committed."""
        quorum = self._quorum
        return quorum.is_leader and quorum.high_watermark > quorum.epoch_start_offset

    def _judge(self) -> None:
        """Judge the new records and answers, and the requests that stay open."""
        for offset, record in self._controller.taken():
            self._follow(offset, record)
        for reply in self._controller.answered():
            asked = self._open.pop(reply.request, None)
            if asked is None:
                raise DifferenceError(f"request {reply.request} is answered twice")
            self._judge_answer(asked, reply.message)
        committed = self._quorum.high_watermark
        ready = [one for one in self._open.values() if NOTHING < one.written < committed]
        same("the committed changes without an answer", ready, [])
        if self._open:
            deadline = self._controller.deadline
            due_ns = min(one.expires_ns for one in self._open.values())
            is_in_time = deadline is not None and deadline <= due_ns
            check(f"the next tick, at {deadline} ns, is no later than {due_ns} ns", is_in_time)

    def _follow(self, offset: int, record: Record) -> None:
        """Note a new record: that of a request, or a NoOpRecord for requests without records."""
        if isinstance(record, records.TopicRecord):
            (asked,) = (one for one in self._open.values() if one.name == record.name)
            asked.written = offset
            number = int(record.name.removeprefix("t"))
            check(f"{record.name} is created after t{self._made}", number > self._made)
            self._made = number
        elif isinstance(record, records.NoOpRecord):
            is_needed = any(not one.name for one in self._open.values())
            check("a record without content is for a waiting request", is_needed)
            check("the only voter needs no proof", not self._quorum.is_only_voter)
            is_alone = self._no_op < self._quorum.high_watermark
            check("one record without content is under way", is_alone)
            self._no_op = offset

    def _judge_answer(self, asked: _Asked, message: Message) -> None:
        codes, now_ns = error_codes(message) or {0}, self._controller.now_ns
        is_over, is_written = now_ns >= asked.expires_ns, asked.written != NOTHING
        what = f"{type(message).__name__} with {sorted(codes)} for {asked} at {now_ns} ns"
        if LATE in codes:
            is_right = is_over if self._quorum.is_leader else is_written
            check(what, is_right and (self._is_active or not self._quorum.is_leader))
        elif LOST in codes:
            is_waiting = self._quorum.is_leader and not self._is_active
            check(what, is_over if is_waiting else not self._quorum.is_leader and not is_written)
        else:
            proven = asked.log_end - int(self._quorum.is_only_voter)
            committed = self._quorum.high_watermark
            check(f"{what}, committed {committed}", committed > max(proven, asked.written))
            check(what, is_written == bool(asked.name))


def _heartbeat(broker: int, epoch: int) -> broker_heartbeat_request.BrokerHeartbeatRequest:
    return broker_heartbeat_request.BrokerHeartbeatRequest(
        broker_id=broker, broker_epoch=epoch, current_metadata_offset=REACHED
    )


def _deletion(timeout_ms: int) -> Message:
    """Return a request about an unknown topic, so that a refusal has a part with an error."""
    module = delete_topics_request
    return module.DeleteTopicsRequest(
        topics=(module.DeleteTopicState(name="absent"),), timeout_ms=timeout_ms
    )


def _growth(timeout_ms: int) -> Message:
    """Return a request about an unknown topic."""
    module = create_partitions_request
    topic = module.CreatePartitionsTopic(name="absent", count=2, assignments=None)
    return module.CreatePartitionsRequest(topics=(topic,), timeout_ms=timeout_ms)


_LOOK_UPS: Final[tuple[Callable[..., Message], ...]] = (
    alter_partition_reassignments_request.AlterPartitionReassignmentsRequest,
    elect_leaders_request.ElectLeadersRequest,
    list_partition_reassignments_request.ListPartitionReassignmentsRequest,
    update_features_request.UpdateFeaturesRequest,
    _growth,
    _deletion,
)
"""Requests that write nothing."""
