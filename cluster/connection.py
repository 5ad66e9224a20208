"""Connection of a client to a node: whole messages over any transport, without retries."""

from typing import Protocol, TypeVar

M = TypeVar("M")


class ConnectionFailed(OSError):
    """The request can not have run: refused, unreachable, or broken before anything was sent."""


class OutcomeUnknown(OSError):
    """The request was sent and nothing came back: it may have run, or may yet."""


class Connection(Protocol[M]):
    """One connection to one port of one node; requests go one at a time.

    What a message is, the system says.
    """

    async def call(self, message: M, version: int, timeout_ns: int) -> M:
        """Send a request and return its response.

        Raises:
            ConnectionFailed: it was never sent.
            OutcomeUnknown: no answer within the time-out, or the connection broke.
        """
        ...

    def close(self) -> None:
        """Drop the connection; open calls end with OutcomeUnknown."""
        ...
