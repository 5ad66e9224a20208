"""Refuse at once the requests that a node answers without the active controller's decision.

The forwarding broker of an Envelope is judged first (590-03). The active controller judges the
requests that it decides: see node/core/controller/authorized.py. A broker judges parts of
requests where it serves them.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.controller.authorized import DENIED
from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.controller.refusals import has_refusal, refusal
from kraftproof.node.core.events import Received, RefusedEnvelope
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.required import NOTHING, required_of
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, envelope_response

NOT_READY: Final = "This node has not loaded the access control entries yet."


class HangUp(Struct, frozen=True):
    """The client's connection has to end: it asks again on the next connection."""


def refused_at_once(authorizer: Authorizer | None, event: Received) -> Message | HangUp | None:
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
    is_ready = authorizer.is_ready
    if event.forwarded_by is not None and not is_ready and not authorizer.knows_forwarder(event):
        # The broker tries another controller: a node without an image is not the active one.
        return envelope_response.EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
    if event.forwarded_by is not None and not authorizer.allows_forwarder(event):
        return envelope_response.EnvelopeResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    is_decided_later = event.on_controller_listener and type(message) in DECISIONS
    if not is_ready and not is_decided_later and not authorizer.knows_sender(event):
        return _unready(event)
    if is_decided_later or authorizer.allows_whole(event):
        return None
    return refusal(message, ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DENIED)


def _unready(event: Received) -> Message | HangUp | None:
    """Return the refusal of a node that has not loaded its image, which a client may repeat.

    A denial would be final, and wrong as soon as the image is loaded. Kafka answers
    UNKNOWN_SERVER_ERROR, which clients do not repeat. None for a request that needs no right.
    """
    required = required_of(event.message, on_controller_listener=event.on_controller_listener)
    if required == NOTHING:
        return None
    if has_refusal(event.message):
        return refusal(event.message, ErrorCode.REQUEST_TIMED_OUT, NOT_READY)
    return HangUp()
