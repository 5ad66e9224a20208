"""Let the shell of a node run in the event loop, in turns with the sockets.

A turn is a plain callback of the loop. A task that waits for an event would cost each request two
further rounds of the loop.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Generic

from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.effects import Exit
from kraftproof.node.server.clocks import read_clocks
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.shell.ports import ClientT, ConnectionT

EVENTS_PER_TURN: Final = 100
"""Steps before sockets are looked at again."""


class Turns(Generic[ClientT, ConnectionT]):
    """The turns of a shell, until the node exits."""

    __slots__ = ("_ended", "_exit", "_idle_since", "_is_due", "_loop", "_on_idled", "_shell")

    def __init__(
        self,
        shell: NodeShell[ClientT, ConnectionT],
        on_idled: Callable[[Monotonic], None] | None,
    ) -> None:
        """Prepare the turns of a shell inside a running event loop.

        Args:
            shell: The shell.
            on_idled: Takes the begin of a time without work, at the end of the time.
        """
        self._shell = shell
        self._on_idled = on_idled
        self._loop = asyncio.get_running_loop()
        self._is_due = False
        self._idle_since: Monotonic | None = None
        self._exit: Exit | None = None
        self._ended: asyncio.Future[Exit] = self._loop.create_future()

    async def run(self) -> Exit:
        """Give turns until the node exits, and return the reason.

        Raises:
            Exception: a step has failed.
        """
        self.wake()
        return await self._ended

    def wake(self) -> None:
        """Give the shell a turn: there is an event, or the disk holds the shell up no longer."""
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._turn)

    def leave(self, effect: Exit) -> None:
        """End the turns; the first reason counts."""
        if self._exit is None:
            self._exit = effect
        self.wake()

    def _turn(self) -> None:
        self._is_due = False
        if self._ended.done():
            return
        if self._on_idled is not None and self._idle_since is not None:
            self._on_idled(self._idle_since)
            self._idle_since = None
        try:
            if self._exit is None:
                self._shell.run(EVENTS_PER_TURN)
        except BaseException as error:  # noqa: BLE001 - ends the process in `run`
            self._ended.set_exception(error)
            return
        if self._exit is not None:
            self._ended.set_result(self._exit)
        elif self._shell.has_work:
            self.wake()
        elif not self._shell.is_held:
            self._idle_since = read_clocks().monotonic
