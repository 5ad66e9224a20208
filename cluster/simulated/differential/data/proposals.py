"""Compare the proposals of a leader, and when they are sent, with a model (KIP-497, KIP-903)."""

from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import NO_PRODUCER, client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.data.controlled import (
    CONTROLLERS,
    FIRST_EPOCH,
    NO_CONTROLLER,
    TOPIC,
    Controlled,
    cluster_records,
    led_partition,
    min_isr_record,
    other_partition,
    received,
    registration,
)
from kraftproof.cluster.simulated.differential.data.led_model import (
    ANY_EPOCH,
    FOLLOWERS,
    LAG_NS,
    NO_COPY,
    OWN,
    Led,
    copies_at_start,
)
from kraftproof.cluster.simulated.differential.data.proposal_requests import (
    Request,
    draw_answer,
    request_with,
    version_at,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.effects import Send
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, produce_request
from kraftproof.node.wire.records.batch import Record

STEPS: Final = 360
RETRY_NS: Final = 50_000_000
LEVELS: Final = (8, 9, 10, 17, 25)
LEADER_EPOCH: Final = 4
MIN_ISRS: Final = (1, 1, 2, 3)
BY_EPOCH, WITHOUT_EPOCH = 17, 14
"""Versions of Fetch with the broker epoch of the follower, and without."""


def compare_proposals(random: Random) -> None:
    """Let followers copy, and controllers answer, and compare each request with the model.

    Raises:
        DifferenceError: a leader proposes something else, or at another time.
    """
    proposals = _Proposals(random)
    actions: list[Callable[[], None]] = [
        *(proposals.fetch,) * 6,
        *(proposals.append,) * 2,
        *(proposals.answer,) * 4,
        proposals.publish,
        proposals.publish,
        proposals.lead_again,
        proposals.change_broker,
        proposals.change_min_isr,
        proposals.change_controller,
    ]
    for _ in range(STEPS):
        if random.random() < 0.3:
            proposals.pass_time(random.choice((1, 4, 5, 6, 30)))
        else:
            random.choice(actions)()
            proposals.settle()


Sent = tuple[Led, tuple[object, ...]]
"""A leadership with a proposal under way, and its state at the sending."""


class _Proposals:
    """The broker, its followers, and the controllers."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._level = random.choice(LEVELS)
        self._epochs = {one: FIRST_EPOCH + one for one in FOLLOWERS}
        self._fenced: set[int] = set()
        members = [random.choice(((OWN,), (OWN, 0), (OWN, 0, 3))) for _ in range(3)]
        min_isr = random.choice(MIN_ISRS)
        self._led = [Led(isr, 0, LEADER_EPOCH, min_isr, copies_at_start(isr, 0)) for isr in members]
        self._in_image = [(led.isr, led.partition_epoch) for led in self._led]
        self._others_epoch = 0
        self._image = apply_all(EMPTY_IMAGE, self._first_records())
        self._rig = Controlled(self._image, LAG_NS)
        self._flight: tuple[Send, dict[int, Sent]] | None = None  # the request under way
        self._not_before = 0
        self._waiting: set[int] = set()
        """The partitions for which the broker waits, also if the image has ended a proposal."""
        self.settle()

    def fetch(self) -> None:
        """Copy records to a follower, which then fetches."""
        random, follower = self._random, self._random.choice(FOLLOWERS)
        place = random.randrange(len(self._led))
        led = self._led[place]
        offset = random.randint(max(led.copies.get(follower, NO_COPY).end, 0), led.end)
        names_epoch = random.random() < 0.8
        epoch = self._epochs[follower] - (random.random() < 0.1) if names_epoch else ANY_EPOCH
        asked = fetch_request.FetchPartition(partition=place, fetch_offset=offset)
        request = fetch_request.FetchRequest(
            replica_id=ANY_EPOCH if names_epoch else follower,
            replica_state=fetch_request.ReplicaState(
                replica_id=follower if names_epoch else ANY_EPOCH, replica_epoch=epoch
            ),
            topics=(fetch_request.FetchTopic(topic="t", topic_id=TOPIC, partitions=(asked,)),),
        )
        self._rig.ask(received(request, BY_EPOCH if names_epoch else WITHOUT_EPOCH))
        if epoch not in {ANY_EPOCH, self._epochs[follower]} or follower not in led.copies:
            return  # of an earlier process of the follower, or of no follower
        led.fetch(follower, self._rig.now_ns, offset, epoch)
        led.join(follower, is_eligible=follower in self._eligible(led))
        self._commit(led)

    def append(self) -> None:
        """Append a record."""
        place = self._random.randrange(len(self._led))
        data = client_batch([b"v"], START_MS, NO_PRODUCER)
        part = produce_request.PartitionProduceData(index=place, records=data)
        topic = produce_request.TopicProduceData(name="t", partition_data=(part,))
        request = produce_request.ProduceRequest(acks=0, topic_data=(topic,))
        self._rig.ask(received(request, 11))
        self._led[place].end += 1
        self._commit(self._led[place])

    def publish(self) -> None:
        """Publish an image, in which a partition may have a newer state."""
        random = self._random
        place = random.randrange(len(self._led))
        if random.random() >= 0.7:
            return self._publish([], is_about_leaders=False)
        isr: tuple[int, ...] = random.choice(((OWN,), (OWN, 0), (OWN, 3), (0, OWN, 3)))
        known = max(self._led[place].partition_epoch, self._in_image[place][1])
        newer = random.choice((0, 1, 1))
        if newer and random.random() < 0.3:
            self._led[place].move(random.choice(((), (0,), (3,), FOLLOWERS, FOLLOWERS)))
        isr = tuple(one for one in isr if one == OWN or one in self._led[place].copies)
        self._in_image[place] = (isr, known + newer)
        return self._publish([self._partition(place)], is_about_leaders=True)

    def lead_again(self) -> None:
        """Begin the next leadership of a partition, with the ISR of the image."""
        place = self._random.randrange(len(self._led))
        led, (isr, known) = self._led[place], self._in_image[place]
        partition_epoch = max(led.partition_epoch, known) + 1
        self._in_image[place] = (isr, partition_epoch)
        self._led[place] = led.next_leadership(isr, partition_epoch, self._rig.now_ns)
        self._publish([self._partition(place)], is_about_leaders=True)

    def change_broker(self) -> None:
        """Fence or unfence a follower, or register it anew."""
        follower = self._random.choice(FOLLOWERS)
        if self._random.random() < 0.3:
            self._epochs[follower] += 10
        self._fenced ^= {follower}
        registered = registration(
            follower, self._epochs[follower], is_fenced=follower in self._fenced
        )
        self._publish([registered], is_about_leaders=True)

    def change_min_isr(self) -> None:
        """Change min.insync.replicas of the topic, within the leader epochs."""
        min_isr = self._random.choice(sorted({*MIN_ISRS} - {self._led[0].min_isr}))
        for led in self._led:
            led.min_isr = min_isr
        self._publish([min_isr_record(min_isr)], is_about_leaders=True)

    def _publish(self, written: list[Record], *, is_about_leaders: bool) -> None:
        """Publish the image after records; a topic that nobody follows may change as well."""
        if self._random.random() < 0.5:
            self._others_epoch += 1
            written = [*written, other_partition(self._others_epoch)]
        self._image = apply_all(self._image, tuple(written))
        self._rig.write(*written)
        for led, known in zip(self._led, self._in_image, strict=True):
            led.follow(*known)
            if is_about_leaders:
                self._commit(led)

    def change_controller(self) -> None:
        """Let another controller, or none, be active; or let the broker lose its epoch."""
        self._rig.controller = self._random.choice((*CONTROLLERS, *CONTROLLERS, NO_CONTROLLER))
        self._rig.broker_epoch = self._random.choice((-1, 0, FIRST_EPOCH, FIRST_EPOCH))
        self._rig.advance()

    def answer(self) -> None:
        """Answer the request under way, or a former one."""
        random = self._random
        waiting = self._rig.without_answer()
        if not waiting:
            return
        send = random.choice(waiting)
        message = draw_answer(random, send.message, self._led)
        self._rig.answer(send, message)
        if self._flight is None or send is not self._flight[0]:
            return  # to a former controller
        sent, self._flight = self._flight[1], None
        answers = None
        if message is not None and message.error_code == ErrorCode.NONE:
            answers = {one.partition_index: one for of in message.topics for one in of.partitions}
        if answers is None:
            self._not_before = self._rig.now_ns + RETRY_NS
        for place, (led, state) in sent.items():
            if led.state == state and not led.is_unsent:
                one = None if answers is None else answers.get(place)
                if one is None:
                    led.is_unsent = True
                else:
                    led.answered(one.error_code, one.leader_epoch, one.partition_epoch, one.isr)
            if led.is_unsent:
                self._not_before = self._rig.now_ns + RETRY_NS
            self._commit(self._led[place])

    def pass_time(self, steps: int) -> None:
        """Let time pass in steps, at whose ends the leader acts."""
        for _ in range(steps):
            self._rig.step()
            if self._rig.now_ns % (LAG_NS // 2) == 0:
                for led in self._led:
                    led.shrink(self._rig.now_ns)
                    self._commit(led)
            self.settle()

    def settle(self) -> None:
        """Compare the requests with those that are due, and the high watermarks."""
        self._settle()
        for place, led in enumerate(self._led):
            what = f"the high watermark with ISR {led.isr} and end {led.end}"
            same(what, self._rig.high_watermark(place), led.high_watermark)

    def _settle(self) -> None:
        rig = self._rig
        controller = rig.controller
        self._waiting.update(place for place, led in enumerate(self._led) if led.is_unsent)
        if self._flight is not None:
            if controller in {NO_CONTROLLER, self._flight[0].destination}:
                return self._compare_none()
            for led, state in self._flight[1].values():
                led.is_unsent |= led.state == state and led.proposed is not None
            self._flight = None
        due = {place: led for place, led in enumerate(self._led) if led.is_unsent}
        self._waiting.update(due)
        if not self._waiting or rig.now_ns < self._not_before:
            return self._compare_none()
        if controller == NO_CONTROLLER or rig.broker_epoch < 0:
            self._not_before = rig.now_ns + RETRY_NS
            return self._compare_none()
        self._waiting.clear()
        if not due:
            return self._compare_none()
        send = rig.new_send(Request)
        check("a leader sends its proposals", send is not None)
        assert send is not None, "checked"
        same("the proposals", send.message, request_with(due, rig.broker_epoch, self._level))
        same("the version of the proposals", send.version, version_at(self._level))
        same("the controller of the proposals", send.destination, controller)
        for led in due.values():
            led.is_unsent = False
        self._flight = (send, {place: (led, led.state) for place, led in due.items()})
        return self._compare_none()

    def _commit(self, led: Led) -> None:
        """Raise the high watermark, after an event about the partition."""
        led.commit(self._rig.now_ns, self._eligible(led))

    def _compare_none(self) -> None:
        send = self._rig.new_send(Request)
        check(f"nothing is due, and {send} is not sent", send is None)

    def _eligible(self, led: Led) -> set[int]:
        """Return the followers that may be members, as far as the leader knows."""
        return {
            one
            for one in led.copies
            if one not in self._fenced
            and led.copies[one].broker_epoch in {ANY_EPOCH, self._epochs[one]}
        }

    def _first_records(self) -> tuple[Record, ...]:
        written = cluster_records(self._level, self._epochs, self._led[0].min_isr)
        partitions = [self._partition(place) for place in range(len(self._led))]
        return (*written, *partitions, other_partition(0))

    def _partition(self, place: int) -> Record:
        isr, partition_epoch = self._in_image[place]
        led = self._led[place]
        return led_partition(place, isr, led.leader_epoch, partition_epoch, tuple(led.copies))
