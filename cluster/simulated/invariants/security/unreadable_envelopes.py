"""The invariant of the answers to Envelopes whose content can't be read (KIP-590)."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.events import Received, RefusedEnvelope
from kraftproof.node.wire.messages import Message, envelope_response


class UnreadableEnvelopesAreNamed(Invariant):
    """A broker learns what is wrong with the Envelope that it has sent.

    The hook gets the requests of senders with every right: of super users, and of all senders where
    there is no authorizer.
    """

    statement = "An Envelope with unreadable content is answered with the error of the content."
    requests: ClassVar[Requests] = (RefusedEnvelope,)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        if not isinstance(request, RefusedEnvelope):
            return
        if _error_of(message) != request.refused_with:
            detail = f"content with error {request.refused_with.name} is answered with {message}"
            self.monitor.report_violation(self, process, detail)


def _error_of(answer: Message) -> int | None:
    """Return the error of an answer to an Envelope; None for another answer."""
    if not isinstance(answer, envelope_response.EnvelopeResponse):
        return None
    return answer.error_code
