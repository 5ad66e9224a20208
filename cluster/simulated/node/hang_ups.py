"""Judge whether a node may end a client's connection in place of an answer.

Kafka has three such cases. Produce with acks=0 reports its error by the end. A forwarded request in
a version that the controller lacks makes the client ask for the versions again (KIP-590). A node
whose authorizer is not ready ends the connection, if the request has no error for its whole.
"""

from kraftproof.node.core.events import Answered, Event, Received
from kraftproof.node.core.served import FORWARDABLE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import envelope_response, produce_request


def may_hang_up(asked: Received, event: Event | None, *, has_authorizer: bool) -> bool:
    """Return whether a step may end the connection of a request.

    Args:
        asked: The request that ends without an answer.
        event: The event of the step.
        has_authorizer: Whether the nodes have an authorizer.
    """
    match asked.message:
        case produce_request.ProduceRequest(acks=0):
            return True
        case _:
            pass
    if asked.message.API_KEY in FORWARDABLE and isinstance(event, Answered):
        refused = event.message
        return (
            isinstance(refused, envelope_response.EnvelopeResponse)
            and refused.error_code == ErrorCode.UNSUPPORTED_VERSION
        )
    return has_authorizer and event is asked
