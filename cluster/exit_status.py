"""The exit status of a node that ended."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class ExitStatusCapable(Protocol):
    """A backend whose nodes are processes with an exit status."""

    async def exit_status(self, node_id: int) -> int | None:
        """Return the status with which the node's last process ended; None if unknown.

        The negative number of the signal, or 128 and that number, if a signal ended the process.
        """
        ...
