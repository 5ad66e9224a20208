"""Invariant of the answers to CreateDelegationToken: the owner and the requester (KIP-48, 900)."""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_delegation_token_request,
    create_delegation_token_response,
)

CreateRequest = create_delegation_token_request.CreateDelegationTokenRequest
CreateResponse = create_delegation_token_response.CreateDelegationTokenResponse
OWNER_SINCE: Final = 3
"""First version with an owner in the request and the requester in the answer."""
SAYS_NOTHING: Final = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT})


class TokenAnswersNameTheOwner(Invariant):
    """An owner learns whose token it is."""

    statement = "The answer about a new token names the owner, and since version 3 the requester."
    requests: ClassVar[Requests] = (CreateRequest,)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        if not isinstance(request, CreateRequest) or not isinstance(message, CreateResponse):
            return
        if message.error_code in SAYS_NOTHING or not event.on_controller_listener:
            return
        asked_by = (event.principal.type, event.principal.name)
        owner = asked_by
        if request.owner_principal_name:
            owner = (request.owner_principal_type or "User", request.owner_principal_name)
        shown = asked_by if event.version >= OWNER_SINCE else ("", "")
        said = (
            (message.principal_type, message.principal_name),
            (message.token_requester_principal_type, message.token_requester_principal_name),
        )
        if said != (owner, shown):
            detail = f"v{event.version}: answers {said}, not {(owner, shown)}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_client_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        self.on_replied(process, event, message)
