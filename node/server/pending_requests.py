"""Requests that wait for the node's answer: from a frame to an event, from a Reply to a frame.

Not: sockets (connection.py), nor the order of events (node_process.py).
"""

import time
from collections.abc import Callable

from msgspec import Struct

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.effects import Reply
from kraftproof.node.core.events import Received
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.envelope import Opened, Refusal, open_request, received_from
from kraftproof.node.server.requests import Request, answer_frame
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.schema import Message

AnsweredHandler = Callable[[Message, Monotonic], None]


class _Waiting(Struct, frozen=True, kw_only=True):
    """A request that the node has not answered yet."""

    slot: Slot
    request: Request
    opened: Opened | None
    since: Monotonic


class RequestBook:
    """The requests of all listeners, by the token that the node knows them by."""

    __slots__ = ("_on_answered", "_post", "_requests", "_waiting")

    def __init__(self, post: Callable[[Received], None], on_answered: AnsweredHandler) -> None:
        self._post = post
        self._on_answered = on_answered
        self._requests = 0
        self._waiting: dict[int, _Waiting] = {}

    def receive(self, binding: Binding, client_host: str, request: Request, slot: Slot) -> None:
        """A request has arrived: make it an event; an envelope is opened first."""
        self._requests += 1
        event = Received(
            request=self._requests,
            message=request.message,
            version=request.header.version,
            on_controller_listener=binding.is_controller,
            principal=ANONYMOUS,
            client_host=client_host,
        )
        opened: Opened | None = None
        if isinstance(request.message, EnvelopeRequest):
            content = open_request(request.message)
            if isinstance(content, Refusal):
                refusal = EnvelopeResponse(error_code=content.error_code)
                slot.fill(answer_frame(request, refusal, None))
                return
            opened = content
            event = received_from(opened, event)
        since = Monotonic(time.monotonic_ns())
        waiting = _Waiting(slot=slot, request=request, opened=opened, since=since)
        self._waiting[self._requests] = waiting
        self._post(event)

    def reply(self, effect: Reply) -> None:
        """Answer the request that the effect names."""
        waiting = self._waiting.pop(effect.request)
        asked = waiting.request if waiting.opened is None else waiting.opened
        self._on_answered(asked.message, waiting.since)
        try:
            waiting.slot.fill(answer_frame(waiting.request, effect.message, waiting.opened))
        except WireError as error:
            say(f"an answer could not be written: {error}")
            waiting.slot.abandon()
