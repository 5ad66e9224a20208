"""Compare the requests that a broker answers, forwards, holds and refuses, with plain rules."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers.membership_model import ENDED
from kraftproof.cluster.simulated.differential.core.versions import OF_BROKERS
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    IDEMPOTENT_WRITE,
    TRANSACTIONAL_ID,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.door.changes import Change, draw_change
from kraftproof.cluster.simulated.differential.door.creation_model import (
    draw_metadata,
    judge_metadata,
    metadata_errors,
)
from kraftproof.cluster.simulated.differential.door.data_requests import (
    DATA_ANSWERS,
    GROUP_TOPIC,
    VERSIONS,
    fetched,
    led_error,
    produced,
    searched,
    wants_group_topic,
)
from kraftproof.cluster.simulated.differential.door.forward_model import FORWARDED
from kraftproof.cluster.simulated.differential.door.own_answers import OWN_ANSWERS
from kraftproof.cluster.simulated.differential.door.settling import Settling
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    DESCRIBE,
    READ,
    TOPIC,
    WRITE,
)
from kraftproof.node.core.events import BatchesRead, Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, init_producer_id_request

RUNS: Final = 2
STEPS: Final = 60
JOINED_SHARE: Final = 0.7
"""Share of the brokers that begin as members of the cluster."""
PRODUCE, FETCH, LIST_OFFSETS, METADATA, COORDINATOR, PRODUCER_ID = 0, 1, 2, 3, 10, 22
NO_TRANSACTION_IS_SHORT_ENOUGH: Final = ErrorCode.INVALID_TRANSACTION_TIMEOUT
EXCESS_BYTES: Final = 10**10
"""Bytes above the estimate of an answer, which no quota allows at once."""


class _Clients(Settling):
    """The clients of a drawn broker, and its neighbours."""

    def run(self) -> None:
        """Take drawn steps until the broker has ended."""
        self.lead()
        self.settle()
        if self.random.random() < JOINED_SHARE:
            self._join()
        for _ in range(STEPS):
            steps: list[Callable[[], None]] = [self.wait, self.wait, self.lead]
            steps += [self.apply] * 2 + [self._ask] * 7 + [self.answer] * (6 * self.has_open)
            steps += [self.work_on_disk] * (2 * self.has_disk_work) + [self._overread]
            if self.random.random() < 0.03:
                steps = [self.stop, self.fail]
            self.random.choice(steps)()
            self.settle()
            if self.has_ended or self.membership.state == ENDED:
                return

    def _join(self) -> None:
        """Let a controller register the broker, and the broker reach its registration."""
        for step in (self.lead_elsewhere, self.wait_for_next, self.register):
            step()
            self.settle()
        while not self.membership.has_caught_up:
            self.apply()
            self.settle()

    def _ask(self) -> None:
        """Send a request of a drawn type."""
        random = self.random
        asks: list[Callable[[], None]] = [
            self._ask_broker,
            self._ask_broker,
            self._ask_data,
            self._ask_metadata,
            self._produce,
            self._search,
            self._ask_producer_id,
            *[self._change] * 4,
        ]
        random.choice(asks)()

    def _event(self, message: Message) -> Received:
        """Return the next request, in a version that the broker reads."""
        self.requests += 1
        key = message.API_KEY
        version = self.random.randint(*VERSIONS.get(key, OF_BROKERS.get(key, (0, 0))))
        return self.view.event(message, version, self.requests)

    def _send(self, event: Received, judge: Callable[[Any], None] | None) -> None:
        """Send a request with the comparison of its answer, if the answer comes at once."""
        if judge is not None:
            self.due[event.request] = judge
        self.rig.broker.receive(event, self.rig.now)

    def _ask_broker(self) -> None:
        key = self.random.choice([*OWN_ANSWERS])
        message, judge = OWN_ANSWERS[key](self.view, self.versions.advertised)
        event = self._event(message)
        self._send(event, partial(judge, event))

    def _ask_data(self) -> None:
        key = self.random.choice([*DATA_ANSWERS])
        message, judge = DATA_ANSWERS[key](self.view, self.led)
        event = self._event(message)
        if key == COORDINATOR and wants_group_topic(self.view, event):
            self.creations.create([GROUP_TOPIC], self.leader, None)
        self._send(event, partial(judge, event))

    def _ask_metadata(self) -> None:
        event = self._event(draw_metadata(self.view))
        if event.version == 0:
            event = replace(event, version=1)  # no topic is every topic in version 0
        errors, created = metadata_errors(self.view, event)
        self.creations.create(created, self.leader, event)
        self._send(event, partial(judge_metadata, self.view, event, errors))

    # The controller's requests

    def _change(self) -> None:
        change = draw_change(self.view, self.random.choice(sorted(FORWARDED)))
        event = self._event(change.asked)
        error = None if change.refuse is None else change.refuse(event)
        if error is not None:
            self._send(event, partial(_same_error, error))
        elif change.forwarded is None:
            self._send(event, lambda answer: change.judge(answer, 0))
        else:
            self._forward(event, change, change.forwarded)

    def _forward(self, event: Received, change: Change, forwarded: Message) -> None:
        self.controllers[event.request] = change.answer
        part = replace(event, message=forwarded)
        self.forwards.receive(part, change.judge, self.leader, self.rig.now_ns)
        self._send(event, None)

    # The requests of partitions

    def _produce(self) -> None:
        random, rig = self.random, self.rig
        timeout_ms = random.choice((20, 300, 4_000))
        message = produced(random.choice((1, -1)), timeout_ms, rig.now_ns // 1_000_000)
        event = self._event(message)
        error = led_error(self.view, self.led, event, WRITE)
        if error:
            self._send(event, partial(_same_parts, "Produce", error))
        else:
            self.led.produce(event.request, timeout_ms, rig.now_ns)
            self._send(event, None)

    def _search(self) -> None:
        event = self._event(searched())
        error = led_error(self.view, self.led, event, DESCRIBE)
        if error:
            self._send(event, partial(_same_offsets, int(error), -1))
        else:
            self.searching = event.request
            self._send(event, None)

    def _overread(self) -> None:
        """Read more bytes than counted for a consumer, which then has to wait."""
        event = self._event(fetched())
        error = led_error(self.view, self.led, event, READ)
        if error:
            self._send(event, partial(_same_parts, "Fetch", error))
            return
        self._send(event, partial(_same_parts, "Fetch", ErrorCode.NONE))
        self.settle()
        self.rig.broker.disk_work_ended(
            BatchesRead(received=event, excess_bytes=EXCESS_BYTES), self.rig.now
        )
        self.requests += 1
        again = replace(event, request=self.requests)
        self._send(again, lambda answer: check("the consumer waits", answer.throttle_time_ms > 0))

    def _ask_producer_id(self) -> None:
        transaction = self.random.choice((None, None, None, "t"))
        event = self._event(
            init_producer_id_request.InitProducerIdRequest(transactional_id=transaction)
        )
        rights = self.view.rights
        if transaction is not None:
            may = self.view.allows(event, WRITE, TRANSACTIONAL_ID, transaction)
            denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            self._send(
                event, partial(_same_error, NO_TRANSACTION_IS_SHORT_ENOUGH if may else denied)
            )
        elif rights.allows_on_cluster(event, IDEMPOTENT_WRITE) or rights.allows_some(
            event, WRITE, TOPIC
        ):
            self.producers.receive(event.request, self.leader, self.broker_epoch, self.rig.now_ns)
            self._send(event, None)
        else:
            self._send(event, partial(_same_error, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))


def _same_error(error: ErrorCode, answer: Any) -> None:  # noqa: ANN401 - of many classes
    same("the error of an answer", answer.error_code, int(error))


def _same_parts(what: str, error: ErrorCode, answer: Any) -> None:  # noqa: ANN401 - of many classes
    found = [
        part.error_code
        for topic in answer.responses
        for part in getattr(topic, "partition_responses", None) or topic.partitions
    ]
    same(f"the error of {what}", found, [int(error)])
    same(f"the throttling of {what}", answer.throttle_time_ms, 0)


def _same_offsets(error: int, offset: int, answer: Any) -> None:  # noqa: ANN401 - of many classes
    found = [(part.error_code, part.offset) for topic in answer.topics for part in topic.partitions]
    same("the found offset", found, [(error, offset)])


def compare_doors(random: Random) -> None:
    """Send drawn requests to drawn brokers.

    Raises:
        DifferenceError: a request is answered, forwarded, held or refused wrongly.
    """
    for _ in range(RUNS):
        _Clients(random).run()
