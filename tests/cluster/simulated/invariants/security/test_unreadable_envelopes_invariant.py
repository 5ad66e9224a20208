"""UnreadableEnvelopesAreNamed: another error than that of the content goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.security.unreadable_envelopes import (
    UnreadableEnvelopesAreNamed,
)
from kraftproof.node.core.events import RefusedEnvelope
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_response, envelope_response
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, Process
from tests.node.core.security.rules import received

REFUSED = RefusedEnvelope(refused_with=ErrorCode.INVALID_REQUEST)
DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def judged(answer):
    harness = MonitorHarness(UnreadableEnvelopesAreNamed())
    event = received(REFUSED, ANONYMOUS, on_controller_listener=True)
    for hook in harness.monitor.on_replied[type(REFUSED)]:
        hook(Process(harness, 1), event, answer)
    return harness.reported


def test_the_error_of_the_content_passes():
    answer = envelope_response.EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST)
    assert not judged(answer)


@pytest.mark.parametrize(
    "answer",
    [
        envelope_response.EnvelopeResponse(error_code=DENIED),
        envelope_response.EnvelopeResponse(error_code=ErrorCode.NONE),
        create_topics_response.CreateTopicsResponse(topics=()),
    ],
)
def test_another_answer_is_reported(answer):
    (wrong,) = judged(answer)
    assert "content with error INVALID_REQUEST is answered with" in wrong
