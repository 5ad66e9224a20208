"""Requests of clients that wait for the node's Reply, by the token that the node knows."""

from collections.abc import Iterable
from typing import Generic

from msgspec.structs import replace

from kraftproof.node.core.base.security import PLAINTEXT_LISTENER, SecurityProtocol
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import EndRequest, Reply
from kraftproof.node.core.events import Received
from kraftproof.node.shell.ports import ClientT, Replies
from kraftproof.node.shell.request_clock import RequestClock
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal


class RequestTable(Generic[ClientT]):
    """The open requests of all listeners."""

    __slots__ = ("_clock", "_last_token", "_open", "_replies")

    def __init__(self, replies: Replies[ClientT], clock: RequestClock | None = None) -> None:
        """Begin without requests; without a clock, requests take no time of the node."""
        self._replies = replies
        self._clock = clock
        self._last_token = 0
        self._open: dict[int, tuple[ClientT, Received]] = {}

    @property
    def open_requests(self) -> Iterable[Received]:
        """The requests that have no answer yet, in the order of their arrival."""
        return (event for _, event in self._open.values())

    def receive(
        self,
        client: ClientT,
        *,
        message: Message,
        version: int,
        on_controller_listener: bool,
        principal: Principal,
        client_host: str,
        forwarded_by: Principal | None,
        forwarder_host: str,
        client_id: str,
        correlation_id: int = 0,
        listener: str = PLAINTEXT_LISTENER,
        security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
    ) -> Received:
        """Return the event of a request whose answer goes to `client`."""
        self._last_token += 1
        event = Received(
            request=self._last_token,
            message=message,
            version=version,
            on_controller_listener=on_controller_listener,
            principal=principal,
            client_host=client_host,
            forwarded_by=forwarded_by,
            forwarder_host=forwarder_host,
            listener=listener,
            security_protocol=security_protocol,
            client_id=client_id,
            correlation_id=correlation_id,
        )
        self._open[self._last_token] = (client, event)
        return event

    def reply(self, effect: Reply) -> None:
        """Answer the request that the effect names; each is answered once."""
        client, event = self._open.pop(effect.request)
        message = effect.message
        stated_ms = getattr(message, "throttle_time_ms", None)
        throttle_ms = self._throttle_ms(event, stated_ms or 0)
        if stated_ms is not None and throttle_ms > stated_ms:
            message = replace(message, throttle_time_ms=throttle_ms)
        if throttle_ms > 0 and event.forwarded_by is None:
            self._replies.mute(client, milliseconds(throttle_ms))
        self._replies.reply(client, event, message)

    def end(self, effect: EndRequest) -> None:
        """End a request that has no answer."""
        client, event = self._open.pop(effect.request)
        throttle_ms = self._throttle_ms(event, effect.throttle_ms)
        if throttle_ms > 0:
            self._replies.mute(client, milliseconds(throttle_ms))
        self._replies.end(client, event, closes_connection=effect.closes_connection)

    def is_open(self, request: int) -> bool:
        """Return whether a request waits for its answer."""
        return request in self._open

    def _throttle_ms(self, event: Received, of_core_ms: int) -> int:
        """Return the longest wait: that of the core, or that for the time of the request."""
        if self._clock is None:
            return of_core_ms
        return max(of_core_ms, self._clock.throttle_ms(event))
