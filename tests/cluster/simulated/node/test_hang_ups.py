"""A node may end a client's connection in place of an answer in three cases only."""

import pytest

from kraftproof.cluster.simulated.node.hang_ups import may_hang_up
from kraftproof.node.core.events import Answered, Event, Received, Tick
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    create_topics_response,
    envelope_response,
    metadata_request,
    produce_request,
)
from kraftproof.node.wire.principal import ANONYMOUS

CREATION = create_topics_request.CreateTopicsRequest()
METADATA = metadata_request.MetadataRequest()


def asked(message: Message) -> Received:
    return Received(
        request=1,
        message=message,
        version=0,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="h",
    )


def refused(error: ErrorCode) -> Answered:
    return Answered(correlation=1, message=envelope_response.EnvelopeResponse(error_code=error))


UNSUPPORTED = refused(ErrorCode.UNSUPPORTED_VERSION)


@pytest.mark.parametrize(
    ("message", "event", "is_right"),
    [
        (CREATION, UNSUPPORTED, True),
        (CREATION, refused(ErrorCode.UNKNOWN_SERVER_ERROR), False),
        (
            CREATION,
            Answered(correlation=1, message=create_topics_response.CreateTopicsResponse()),
            False,
        ),
        (CREATION, Tick(), False),
        (CREATION, None, False),
        (METADATA, UNSUPPORTED, False),
        (produce_request.ProduceRequest(acks=0), Tick(), True),
        (produce_request.ProduceRequest(acks=1), Tick(), False),
    ],
)
def test_the_end_needs_a_cause(message: Message, event: Event | None, *, is_right: bool) -> None:
    assert may_hang_up(asked(message), event, has_authorizer=False) == is_right


def test_an_authorizer_that_is_not_ready_ends_the_connection_at_once() -> None:
    event = asked(METADATA)
    assert may_hang_up(event, event, has_authorizer=True)
    assert not may_hang_up(event, event, has_authorizer=False)
    assert not may_hang_up(event, Tick(), has_authorizer=True)
