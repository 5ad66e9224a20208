"""Clients' requests between frame and shell: an envelope is opened, an answer becomes a frame.

See connection.py for sockets, node/shell/request_table.py for the requests that wait.
"""

import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.envelope import Opened, Refusal, open_request
from kraftproof.node.server.requests import Request, answer_frame
from kraftproof.node.shell.ports import Replies
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.schema import Message

AnsweredHandler = Callable[[Message, Monotonic], None]


class PendingRequest(Struct, frozen=True, kw_only=True):
    """A request that the node has not answered yet."""

    slot: Slot
    request: Request
    opened: Opened | None
    since: Monotonic


class RequestReceiver(Protocol):
    """The shell, as a listener sees it."""

    def receive(
        self,
        client: PendingRequest,
        *,
        message: Message,
        version: int,
        on_controller_listener: bool,
        principal: Principal,
        client_host: str,
        forwarded_by: Principal | None,
    ) -> object:
        """Take a request whose answer goes to `client`."""
        ...


def receive_request(
    receiver: RequestReceiver, binding: Binding, client_host: str, request: Request, slot: Slot
) -> None:
    """Hand a request to the shell; an envelope is opened first, or refused here."""
    opened: Opened | None = None
    if isinstance(request.message, EnvelopeRequest):
        content = open_request(request.message)
        if isinstance(content, Refusal):
            refusal = EnvelopeResponse(error_code=content.error_code)
            slot.respond(answer_frame(request, refusal, None))
            return
        opened = content
    since = Monotonic(time.monotonic_ns())
    sender = ANONYMOUS
    receiver.receive(
        PendingRequest(slot=slot, request=request, opened=opened, since=since),
        message=request.message if opened is None else opened.message,
        version=request.header.version if opened is None else opened.header.version,
        on_controller_listener=binding.is_controller,
        principal=sender if opened is None else opened.principal,
        client_host=client_host if opened is None else opened.client_host,
        forwarded_by=None if opened is None else sender,
    )


class ClientReplies(Replies[PendingRequest]):
    """Answers to clients, in frames."""

    __slots__ = ("_on_answered",)

    def __init__(self, on_answered: AnsweredHandler) -> None:
        self._on_answered = on_answered

    @override
    def reply(self, client: PendingRequest, event: Received, message: Message) -> None:
        self._on_answered(event.message, client.since)
        respond(client, message)


def respond(client: PendingRequest, message: Message) -> None:
    """Send an answer as a frame; end the connection if the version can't carry the answer."""
    try:
        client.slot.respond(answer_frame(client.request, message, client.opened))
    except WireError as error:
        say(f"an answer could not be written: {error}")
        client.slot.abandon()
