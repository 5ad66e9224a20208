"""Refuse at once the requests that a node answers without the active controller's decision.

The forwarding broker of an Envelope is judged first (590-03). The active controller judges the
requests that it decides: see node/core/controller/authorized.py. A broker judges parts of
requests where it serves them.
"""

from msgspec.structs import replace

from kraftproof.node.core.controller.authorized import DENIED
from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.events import Received, RefusedEnvelope
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, envelope_response


def refused_at_once(authorizer: Authorizer | None, event: Received) -> Message | None:
    """Return the answer to a request whose sender lacks the right for the whole request.

    An Envelope with unreadable content is refused for its sender's right first (590-06).
    """
    message = event.message
    if isinstance(message, RefusedEnvelope):
        sent = replace(event, forwarded_by=event.principal, forwarder_host=event.client_host)
        is_allowed = authorizer is None or authorizer.allows_forwarder(sent)
        denied = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return envelope_response.EnvelopeResponse(
            error_code=message.refused_with if is_allowed else denied
        )
    if authorizer is None:
        return None
    if event.forwarded_by is not None and not authorizer.allows_forwarder(event):
        return envelope_response.EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    is_decided_later = event.on_controller_listener and type(message) in DECISIONS
    if is_decided_later or authorizer.allows_whole(event):
        return None
    return refusal(message, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DENIED)
