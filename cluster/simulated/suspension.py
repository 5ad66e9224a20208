"""SIGSTOP and SIGCONT: what reaches a process while it is stopped waits in its machine.

Socket buffers keep the order of each connection; which connection the process reads first when it
wakes, and whether it looks at its timers before, is chance. Not: what is done then.
"""

from collections import deque
from collections.abc import Callable
from random import Random

from cluster.simulated.network import Connection
from cluster.simulated.scheduler import Scheduler

Action = Callable[[], None]


class Suspension:
    """Whether a process runs, and what waits for it."""

    __slots__ = (
        "_buffers",
        "_due",
        "_paused_ns",
        "_random",
        "_scheduler",
        "_since_ns",
        "is_alive",
        "is_paused",
        "is_running",
    )

    def __init__(self, scheduler: Scheduler, random: Random) -> None:
        self._scheduler = scheduler
        self._random = random
        self._buffers: dict[Connection, deque[Action]] = {}
        self._due: list[Action] = []
        self._paused_ns = 0
        self._since_ns = 0
        self.is_alive = True
        self.is_paused = False
        self.is_running = True
        """Alive and not stopped."""

    def end(self) -> None:
        """Die."""
        self.is_alive = self.is_running = False

    def pause(self) -> None:
        """Stop."""
        if not self.is_paused:
            self.is_paused = True
            self.is_running = False
            self._since_ns = self._scheduler.now_ns

    def resume(self) -> None:
        """Go on, with all that has waited."""
        if not self.is_paused:
            return
        self.is_paused = False
        self.is_running = self.is_alive
        self._paused_ns += self._scheduler.now_ns - self._since_ns
        heard, due, self._due = self._read_buffers(), self._due, []
        first, second = (due, heard) if self._random.random() < 0.5 else (heard, due)
        for action in [*first, *second]:
            self.when_running(action)

    def running_ns(self) -> int:
        """True time without the pauses."""
        now_ns = self._scheduler.now_ns
        current_ns = now_ns - self._since_ns if self.is_paused else 0
        return now_ns - self._paused_ns - current_ns

    def when_running(self, action: Action) -> None:
        """Do it now, or when the process goes on; never if it has died."""
        if self.is_running:
            action()
        elif self.is_alive:
            self._due.append(action)

    def when_reading(self, action: Action, connection: Connection) -> None:
        """Do it now, or when the process reads this connection again."""
        if self.is_running:
            action()
        elif self.is_alive:
            self._buffers.setdefault(connection, deque()).append(action)

    def _read_buffers(self) -> list[Action]:
        """Empty the buffers: in order on each connection, in none between them."""
        queues = list(self._buffers.values())
        self._buffers = {}
        actions = []
        while queues:
            index = self._random.randrange(len(queues))
            actions.append(queues[index].popleft())
            if not queues[index]:
                del queues[index]
        return actions
