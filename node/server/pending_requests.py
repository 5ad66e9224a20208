"""Clients' requests between frame and shell: an envelope is opened, an answer becomes a frame.

See connection.py for sockets, node/shell/request_table.py for the requests that wait.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Protocol

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.events import Received, RefusedEnvelope
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.envelope import Opened, Refusal
from kraftproof.node.server.large_messages import is_large
from kraftproof.node.server.principals import principal_builder
from kraftproof.node.server.requests import Request, answer_frame
from kraftproof.node.shell.ports import Replies
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.principal import ANONYMOUS, AuthenticationContext, Principal
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
        forwarder_host: str,
        listener: str,
        security_protocol: SecurityProtocol,
        client_id: str,
        correlation_id: int,
    ) -> object:
        """Take a request whose answer goes to `client`."""
        ...


def receive_request(
    receiver: RequestReceiver,
    binding: Binding,
    client_host: str,
    request: Request,
    slot: Slot,
    sender: Principal = ANONYMOUS,
) -> None:
    """Hand a request, or the content of an envelope, to the shell; the node judges both."""
    opened, message = request.content, request.message
    if isinstance(opened, Refusal):
        message = RefusedEnvelope(refused_with=opened.error_code)
        opened = None
    sender = principal_builder().build(
        AuthenticationContext(principal=sender, client_host=client_host, listener=binding.name)
    )
    since = Monotonic(time.monotonic_ns())
    header = request.header if opened is None else opened.header
    receiver.receive(
        PendingRequest(slot=slot, request=request, opened=opened, since=since),
        message=message if opened is None else opened.message,
        version=header.version,
        on_controller_listener=binding.is_controller,
        principal=sender if opened is None else opened.principal,
        client_host=client_host if opened is None else opened.client_host,
        forwarded_by=None if opened is None else sender,
        forwarder_host="" if opened is None else client_host,
        listener=binding.name,
        security_protocol=binding.security.protocol,
        client_id=header.client_id or "",
        correlation_id=header.correlation_id,
    )


class ClientReplies(Replies[PendingRequest]):
    """Answers to clients, in frames; a thread encodes a large answer."""

    __slots__ = ("_encoder", "_on_answered")

    def __init__(self, on_answered: AnsweredHandler, encoder: Executor | None = None) -> None:
        self._on_answered = on_answered
        self._encoder = encoder
        """None encodes all answers in the caller's thread."""

    @override
    def mute(self, client: PendingRequest, duration_ns: int) -> None:
        client.slot.mute(duration_ns)

    @override
    def reply(self, client: PendingRequest, event: Received, message: Message) -> None:
        self._on_answered(event.message, client.since)
        if self._encoder is None or not is_large(message):
            respond(client, message)
            return
        frame = partial(answer_frame, client.request, message, client.opened)
        future = asyncio.get_running_loop().run_in_executor(self._encoder, frame)
        future.add_done_callback(partial(_encoded, client))

    @override
    def end(self, client: PendingRequest, event: Received, *, closes_connection: bool) -> None:
        self._on_answered(event.message, client.since)
        end_request(client, closes_connection=closes_connection)


def end_request(client: PendingRequest, *, closes_connection: bool) -> None:
    """Leave a request without an answer: later answers do not wait for one."""
    if closes_connection:
        client.slot.abandon()
    else:
        client.slot.respond(b"")


def _encoded(client: PendingRequest, future: "asyncio.Future[bytes]") -> None:
    if not future.cancelled():
        _respond(client, future.result)


def respond(client: PendingRequest, message: Message) -> None:
    """Send an answer as a frame; end the connection if the version can't carry the answer."""
    _respond(client, partial(answer_frame, client.request, message, client.opened))


def _respond(client: PendingRequest, frame: Callable[[], bytes]) -> None:
    try:
        client.slot.respond(frame())
    except WireError as error:
        say(f"an answer could not be written: {error}")
        client.slot.abandon()
