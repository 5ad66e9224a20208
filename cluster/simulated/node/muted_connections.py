"""Hold the requests of connections that a process has muted for a throttle time (KIP-219)."""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

Action = Callable[[], None]


class MutedConnections:
    """The connections of a process from which no request is taken at present."""

    __slots__ = ("_after", "_held", "mutes")

    def __init__(self, after: Callable[[int, Action], Any]) -> None:
        self._after = after
        """Runs an action after a number of nanoseconds."""
        self.mutes: dict[Hashable, int] = {}
        """The number of throttle times that have not passed, by connection."""
        self._held: dict[Hashable, deque[Action]] = {}

    def mute(self, connection: Hashable, duration_ns: int) -> None:
        """Hold the requests of a connection for a time."""
        self.mutes[connection] = self.mutes.get(connection, 0) + 1
        self._after(duration_ns, lambda: self._unmute(connection))

    def holds(self, connection: Hashable, take: Action) -> bool:
        """Keep a request of a muted connection for later; return False for other connections."""
        if connection not in self.mutes:
            return False
        self._held.setdefault(connection, deque()).append(take)
        return True

    def _unmute(self, connection: Hashable) -> None:
        self.mutes[connection] -= 1
        if self.mutes[connection] == 0:
            del self.mutes[connection]
        held = self._held.get(connection)
        while held and connection not in self.mutes:
            held.popleft()()
        if not held:
            self._held.pop(connection, None)
