"""What must hold of the active controller's answers (docs/glossary.md, "read barrier").

An answer is a claim about the present: it may be neither older than what was committed when it
was asked for, nor newer than what can't be lost any more. Not: whether it is the right answer,
which the checkers of histories judge.
"""

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog, drop_below
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    unregister_broker_request,
    unregister_broker_response,
)
from kraftproof.node.wire.messages import metadata as records
from kraftproof.node.wire.messages.batch import Batch
from kraftproof.node.wire.types import Uuid

OF_THE_CONTROLLER = (
    broker_heartbeat_request.BrokerHeartbeatRequest,
    broker_registration_request.BrokerRegistrationRequest,
    create_topics_request.CreateTopicsRequest,
    delete_topics_request.DeleteTopicsRequest,
    unregister_broker_request.UnregisterBrokerRequest,
)
SAYS_NOTHING = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


OF_TOPICS = (
    create_topics_request.CreateTopicsRequest,
    delete_topics_request.DeleteTopicsRequest,
)


class Asked(Struct, frozen=True, kw_only=True, gc=False):
    """How far things had come when a request arrived."""

    committed_end: int
    """What any node had committed."""
    log_end: int
    """What the node that was asked had written."""


class LinearizableReads(Invariant):
    """The read barrier, and answers only at commit.

    The last of its three conditions is the barrier itself: a record that stood in the log already
    when the request came proves nothing when it commits, since its acknowledgements may be older
    than the request. The first shows where that has done harm.
    """

    sentence = (
        "An answer of the controller is not older than what was committed when it was asked for, "
        "rests on committed records only, and on one that was written after it was asked for."
    )
    requests: ClassVar[Requests] = OF_THE_CONTROLLER

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._asked: dict[tuple[int, int, int], Asked] = {}

    @override
    def received(self, process: ProcessView, event: Received) -> None:
        if event.on_controller_listener:
            key = (process.node_id, process.incarnation, event.request)
            self._asked[key] = Asked(
                committed_end=self._committed_log.end_offset, log_end=process.log.end_offset
            )

    @override
    def replied(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = self._asked.pop((process.node_id, process.incarnation, event.request), None)
        status = process.status
        if asked is None or status is None or not _is_claim(message):
            return
        name = type(event.message).__name__
        end = status.high_watermark
        if end < asked.committed_end:
            detail = f"{name}: committed here {end}, elsewhere {asked.committed_end} before it"
            self.monitor.report_violation(self, process, detail)
        elif end < asked.log_end:
            detail = f"{name}: committed {end}, but it saw the log to {asked.log_end}"
            self.monitor.report_violation(self, process, detail)
        elif end == asked.log_end:
            detail = f"{name}: committed {end}, where the log ended when it was asked for"
            self.monitor.report_violation(self, process, detail)


class AcknowledgedIsCommitted(Invariant):
    """What a client may rely on: done is done, and refused is not done.

    That committed records stay is StateMachineSafety, that images show them is judged by the
    log at the end of a run.
    """

    sentence = "What an answer says was done has committed, and what it refuses was not written."
    requests: ClassVar[Requests] = OF_TOPICS

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._created: dict[Uuid, str] = {}
        self._removed: set[Uuid] = set()  # asked for membership only
        self._committed_at: dict[int, list[Uuid]] = {}
        self._stepping: dict[int, tuple[int, int]] = {}
        self._written: dict[tuple[int, int, int], list[str]] = {}
        committed_log.subscribers.append(self._committed)

    def _committed(self, batch: Batch, time_ns: int) -> None:
        del time_ns
        topics = []
        for record in batch.records:
            if isinstance(record, records.TopicRecord):
                self._created[record.topic_id] = record.name
            elif isinstance(record, records.RemoveTopicRecord):
                self._removed.add(record.topic_id)
            else:
                continue
            topics.append(record.topic_id)
        if topics:
            self._committed_at[batch.base_offset] = topics

    @override
    def forgotten(self, below: int) -> None:
        """Who has them in a snapshot has answered for them when they were committed."""
        for topics in drop_below(self._committed_at, below):
            for topic in topics:
                self._created.pop(topic, None)
                self._removed.discard(topic)

    @override
    def received(self, process: ProcessView, event: Received) -> None:
        if isinstance(event.message, create_topics_request.CreateTopicsRequest):
            self._stepping[process.node_id] = (process.incarnation, event.request)

    @override
    def stepped(self, process: ProcessView) -> None:
        if self._stepping:
            self._stepping.pop(process.node_id, None)

    @override
    def appended(self, process: ProcessView, batch: Batch) -> None:
        """A request's records are written in the step that takes it."""
        request = self._stepping.get(process.node_id) if self._stepping else None
        if request is not None:
            names = [r.name for r in batch.records if isinstance(r, records.TopicRecord)]
            if names:
                self._written.setdefault((process.node_id, *request), []).extend(names)

    @override
    def replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """A broker passes on what a controller has answered, whose step may never be told."""
        if not event.on_controller_listener:
            return
        match event.message, message:
            case (
                create_topics_request.CreateTopicsRequest() as request,
                create_topics_response.CreateTopicsResponse(),
            ):
                self._judge_creation(process, event, request, message)
            case (
                delete_topics_request.DeleteTopicsRequest(),
                delete_topics_response.DeleteTopicsResponse(responses=results),
            ):
                for result in results:
                    if not result.error_code and result.topic_id not in self._removed:
                        detail = f"topic {result.name} is said to be deleted, and is not"
                        self.monitor.report_violation(self, process, detail)
            case _:
                return

    def _judge_creation(
        self,
        process: ProcessView,
        event: Received,
        request: create_topics_request.CreateTopicsRequest,
        message: create_topics_response.CreateTopicsResponse,
    ) -> None:
        written = self._written.pop((process.node_id, process.incarnation, event.request), [])
        for topic in message.topics:
            if topic.error_code == ErrorCode.NONE:
                is_done = request.validate_only or self._created.get(topic.topic_id) == topic.name
                detail = f"topic {topic.name} is said to be created, and has not committed"
            else:
                is_done = topic.error_code == ErrorCode.REQUEST_TIMED_OUT
                is_done = is_done or topic.name not in written
                detail = f"topic {topic.name} is refused ({topic.error_code}), and was written"
            if not is_done:
                self.monitor.report_violation(self, process, detail)


def _is_claim(message: Message) -> bool:
    codes = list(_error_codes(message))
    return bool(codes) and not any(code in SAYS_NOTHING for code in codes)


def _error_codes(message: Message) -> Iterator[int]:
    match message:
        case (
            broker_heartbeat_response.BrokerHeartbeatResponse(error_code=code)
            | broker_registration_response.BrokerRegistrationResponse(error_code=code)
            | unregister_broker_response.UnregisterBrokerResponse(error_code=code)
        ):
            yield code
        case create_topics_response.CreateTopicsResponse(topics=topics):
            yield from (topic.error_code for topic in topics)
        case delete_topics_response.DeleteTopicsResponse(responses=topics):
            yield from (topic.error_code for topic in topics)
        case _:
            return
