"""The invariant that the active controller does what each request asks, and nothing else.

The specification decides what is right; it is handed in by whoever makes the cluster, since this
package knows no checker. The cause of a batch is the request of the step that wrote the batch. A
step that decides waiting requests, such as the activation of a controller, leaves the choice among
the requests that explain the batch. An answer without records must be right for an image between
the arrival of the request and the answer.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, Protocol

from msgspec import Struct, field
from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.answers import OF_THE_CONTROLLER, SAYS_NOTHING
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, create_topics_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

DENIALS = frozenset({ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED})
Image = Any
Row = Any
"""An image, and a message or record, of the specification; only the specification reads them."""


class ControllerSpecification(Protocol):
    """The right results of requests to the controller."""

    @property
    def empty(self) -> Image:
        """The image of an empty log."""
        ...

    def rows(self, messages: Iterable[object]) -> tuple[Row, ...]:
        """Return requests, answers or records as the other methods take them."""
        ...

    def after(self, image: Image, written: Sequence[Row]) -> Image:
        """Return the image after records.

        Raises:
            ValueError: a record contradicts the image before it.
        """
        ...

    def wrong_records(
        self, image: Image, offset: int, request: Row | None, written: Sequence[Row]
    ) -> str | None:
        """Return why a batch is no result of a request (None: of the controller), or None."""
        ...

    def wrong_answer(
        self, image: Image, request: Row, written: Sequence[Row], answer: Row
    ) -> str | None:
        """Return why an answer is wrong, given the image before and the records, or None."""
        ...


MakeSpecification = Callable[[ClusterConfig], ControllerSpecification]


MOST_UNFINISHED: Final = 100
"""The number of open requests of ended processes that may still be the cause of a batch."""


class Change(Struct, kw_only=True):
    """A committed batch: the image before, and the records."""

    image: Image
    written: tuple[Row, ...]
    is_answered: bool = False
    """Whether a request has been answered as the cause of the batch."""


class OpenRequest(Struct, kw_only=True):
    """A request that has no answer yet, or whose batch has not committed yet."""

    asked: Row
    committed_end: int
    """End of the committed log of the cluster at the arrival of the request."""
    changes: list[Change] = field(default_factory=list)
    """The batches that the request explains."""
    is_cause: bool = False
    """Whether the request is known to be the cause of its only change."""
    is_refused_untried: bool = False
    """Whether NOT_CONTROLLER was answered, after which no record may follow."""


class Appended(Struct, frozen=True, kw_only=True):
    """A batch of a leader, with the requests that may be its cause."""

    node: int
    asking: OpenRequest | None
    """The request of the step that wrote the batch, if the step handled one."""
    waiting: tuple[OpenRequest, ...]
    """The open requests of the leader."""


class ControllerConforms(Invariant):
    """The results of requests, judged at each commit and each answer."""

    statement = (
        "Each request to the controller has the records and the answer that the specification "
        "allows, and the controller writes nothing else."
    )
    requests: ClassVar[Requests] = OF_THE_CONTROLLER

    def __init__(self, specification: ControllerSpecification, committed_log: CommittedLog) -> None:
        super().__init__()
        self._specification = specification
        self._committed_log = committed_log
        self._open: dict[tuple[int, int], dict[int, OpenRequest]] = {}
        """By node and incarnation, in the order of arrival."""
        self._appended: dict[tuple[int, int], Appended] = {}
        """By epoch and base offset, until the batch commits."""
        self._unfinished: deque[OpenRequest] = deque(maxlen=MOST_UNFINISHED)
        """The open requests of processes that have ended, the latest."""
        self._images: deque[tuple[int, Image]] = deque([(0, specification.empty)])
        """Images with the offset from which each holds, as far back as an open request needs."""
        committed_log.subscribers.append(self._committed)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for key in [key for key in self._open if key[0] == process.node_id]:
            self._unfinished.extend(self._open.pop(key).values())

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if event.on_controller_listener:
            requests = self._open.setdefault((process.node_id, process.incarnation), {})
            (asked,) = self._specification.rows((event.message,))
            requests[event.request] = OpenRequest(
                asked=asked, committed_end=self._committed_log.end_offset
            )

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        """Note the requests that may be the cause of a leader's batch."""
        status = process.status
        if status is None or status.role != LEADER or status.epoch != batch.epoch:
            return
        if _is_idle(batch):
            return
        requests = self._open.get((process.node_id, process.incarnation), {})
        event = process.event
        asking = requests.get(event.request) if isinstance(event, Received) else None
        self._appended[batch.epoch, batch.base_offset] = Appended(
            node=process.node_id, asking=asking, waiting=tuple(requests.values())
        )

    def _committed(self, batch: Batch, time_ns: int) -> None:
        """Find the cause of a batch at its commit."""
        if _is_idle(batch):
            return
        appended = self._appended.pop((batch.epoch, batch.base_offset), None)
        image, written = self._images[-1][1], self._specification.rows(batch.records)
        try:
            after = self._specification.after(image, written)
        except ValueError as contradiction:
            wrong: str | None = str(contradiction)
        else:
            self._images.append((batch.next_offset, after))
            self._drop_images()
            change, wrong = Change(image=image, written=written), None
            if batch.base_offset >= self._committed_log.inherited_end:
                wrong = self._find_cause(change, batch.base_offset, appended)
        if wrong is not None:
            self.monitor.record(
                type(self).__name__,
                self.statement,
                f"offset {batch.base_offset}: {wrong}",
                node=0 if appended is None else appended.node,
                time_ns=time_ns,
            )

    def _find_cause(self, change: Change, offset: int, appended: Appended | None) -> str | None:
        """Give a change to the requests that explain the change; return None if there is a cause.

        If the request of the step is no cause, the step has also decided waiting requests, or the
        change is the controller's own.
        """
        judge, image, written = self._specification.wrong_records, change.image, change.written
        wrong = judge(image, offset, None, written)
        if appended is None:  # a full disk has ended the process amid the append
            causes = (one.asked for one in self._unfinished)
            is_explained = any(judge(image, offset, one, written) is None for one in causes)
            return None if is_explained else wrong
        asking = appended.asking
        if asking is not None and not asking.is_refused_untried:
            complaint = judge(image, offset, asking.asked, written)
            if complaint is None:
                asking.changes, asking.is_cause = [change], True
                return None
            wrong = None if wrong is None else complaint
        for request in appended.waiting:
            if request.is_cause or request.is_refused_untried or request is asking:
                continue
            if judge(image, offset, request.asked, written) is None:
                request.changes.append(change)
                wrong = None
        return wrong

    def _drop_images(self) -> None:
        needed = min(
            (
                request.committed_end
                for requests in self._open.values()
                for request in requests.values()
            ),
            default=self._committed_log.end_offset,
        )
        while len(self._images) > 1 and self._images[1][0] <= needed:
            self._images.popleft()

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        requests = self._open.get((process.node_id, process.incarnation), {})
        request = requests.pop(event.request, None)
        if request is None or process.status is None:
            return
        codes = error_codes(message)
        if codes is not None and codes <= SAYS_NOTHING:
            request.is_refused_untried = ErrorCode.NOT_CONTROLLER in codes
            if not request.is_refused_untried or not request.is_cause:
                return
        wrong = self._judge(request, process.status.high_watermark, message)
        if wrong is not None:
            name = type(event.message).__name__
            self.monitor.report_violation(self, process, f"{name}: {wrong}")

    @override
    def on_client_received(self, process: ProcessView, event: Received) -> None:
        self.on_received(process, event)

    @override
    def on_client_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """Judge the answer to a client with rights of its own.

        AnswersFollowEntries judges a denial; the denied request must have changed nothing.
        """
        codes = error_codes(message) or frozenset()
        hides_configs = isinstance(event.message, create_topics_request.CreateTopicsRequest)
        if not codes & DENIALS and not hides_configs:
            self.on_replied(process, event, message)
            return
        requests = self._open.get((process.node_id, process.incarnation), {})
        request = requests.pop(event.request, None)
        if request is not None and request.is_cause and codes & DENIALS:
            detail = f"{type(event.message).__name__}: denied, but the change was written"
            self.monitor.report_violation(self, process, detail)

    def _judge(self, request: OpenRequest, end: int, message: Message) -> str | None:
        """Judge an answer on the image before its records, or on one that could be its basis."""
        judge = self._specification.wrong_answer
        (answer,) = self._specification.rows((message,))
        wrong = None
        for change in request.changes:
            if not change.is_answered:
                wrong = judge(change.image, request.asked, change.written, answer)
                if wrong is None:
                    change.is_answered = True
                    return None
        for image in () if request.is_cause else self._images_between(request.committed_end, end):
            wrong = self._specification.wrong_records(image, end, request.asked, ())
            wrong = wrong or judge(image, request.asked, (), answer)
            if wrong is None:
                return None
        return wrong

    def _images_between(self, first: int, last: int) -> list[Image]:
        """Return the images of the offsets from `first` to `last`, the oldest first."""
        begins = [begin for begin, _ in self._images]
        ends = [*begins[1:], self._committed_log.end_offset + 1]
        return [
            image
            for (begin, image), end in zip(self._images, ends, strict=True)
            if begin <= last and end > first
        ]


def _is_idle(batch: Batch) -> bool:
    """Return whether a batch changes no metadata."""
    return batch.is_control or all(type(record) is records.NoOpRecord for record in batch.records)
