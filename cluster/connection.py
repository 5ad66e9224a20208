"""How a client talks to a node: whole messages, whatever carries them. Not: retries."""

from typing import Protocol

from kraftproof.node.wire.messages import Message


class ConnectionFailed(OSError):
    """The request can not have run: refused, unreachable, or broken before anything was sent."""


class OutcomeUnknown(OSError):
    """The request was sent and nothing came back: it may have run, or may yet."""


class Connection(Protocol):
    """One connection to one listener of one node; requests go one at a time."""

    async def call(self, message: Message, version: int, timeout_ns: int) -> Message:
        """Send a request and return its response.

        Raises:
            ConnectionFailed: it was never sent.
            OutcomeUnknown: no answer within the time-out, or the connection broke.
        """
        ...

    def close(self) -> None:
        """Drop the connection; open calls end with OutcomeUnknown."""
        ...
