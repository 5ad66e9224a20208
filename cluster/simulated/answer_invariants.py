"""What must hold of the active controller's answers (DESIGN.md section 3, "Read barrier").

An answer is a claim about the present: it may be neither older than what was committed when it
was asked for, nor newer than what can't be lost any more. Not: whether it is the right answer,
which the checkers of histories judge.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override

from cluster.simulated.ledger import Ledger
from cluster.simulated.witness import Observed, Witness
from node.core.events import Received
from node.wire.errors import ErrorCode
from node.wire.messages import (
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

OF_THE_CONTROLLER = (
    broker_heartbeat_request.BrokerHeartbeatRequest,
    broker_registration_request.BrokerRegistrationRequest,
    create_topics_request.CreateTopicsRequest,
    delete_topics_request.DeleteTopicsRequest,
    unregister_broker_request.UnregisterBrokerRequest,
)
SAYS_NOTHING = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How far things had come when a request arrived."""

    committed_end: int
    """What any node had committed."""
    log_end: int
    """What the node that was asked had written."""


class AnswersArePresent(Witness):
    """The read barrier, and answers only at commit.

    The last of its three conditions is the barrier itself: a record that stood in the log already
    when the request came proves nothing when it commits, since its acknowledgements may be older
    than the request. The first shows where that has done harm.
    """

    sentence = (
        "An answer of the controller is not older than what was committed when it was asked for, "
        "rests on committed records only, and on one that was written after it was asked for."
    )

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger
        self._asked: dict[tuple[int, int, int], Asked] = {}

    @override
    def received(self, process: Observed, event: Received) -> None:
        if event.on_controller_listener and isinstance(event.message, OF_THE_CONTROLLER):
            key = (process.node_id, process.life, event.request)
            self._asked[key] = Asked(
                committed_end=self._ledger.end_offset, log_end=process.log.end_offset
            )

    @override
    def replied(self, process: Observed, event: Received, message: Message) -> None:
        asked = self._asked.pop((process.node_id, process.life, event.request), None)
        status = process.status
        if asked is None or status is None or not _is_claim(message):
            return
        name = type(event.message).__name__
        end = status.high_watermark
        if end < asked.committed_end:
            detail = f"{name}: committed here {end}, elsewhere {asked.committed_end} before it"
            self.jury.object(self, process, detail)
        elif end < asked.log_end:
            detail = f"{name}: committed {end}, but it saw the log to {asked.log_end}"
            self.jury.object(self, process, detail)
        elif end == asked.log_end:
            detail = f"{name}: committed {end}, where the log ended when it was asked for"
            self.jury.object(self, process, detail)


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
