"""SIGSTOP and SIGCONT: what reaches a process while it is stopped waits in its machine.

Socket buffers keep the order of each connection; which connection the process reads first when it
wakes, and whether it looks at its timers before, is chance. Not: what is done then.

A slow disk holds a process up as well: no step is taken between a barrier and its fsync. Both are
no running time, and an invariant that gives a process so much time counts running time only.
"""

from collections import deque
from collections.abc import Callable, Hashable
from random import Random

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler

Action = Callable[[], None]


class Suspension:
    """Suspension of a process: running or paused, actions that wait, and its running time."""

    __slots__ = (
        "_buffers",
        "_due",
        "_held_ns",
        "_held_since_ns",
        "_is_blocked",
        "_on_crash",
        "_random",
        "_scheduler",
        "is_alive",
        "is_paused",
        "is_running",
    )

    def __init__(
        self, scheduler: Scheduler, random: Random, on_crash: Callable[[Exception], None]
    ) -> None:
        self._scheduler = scheduler
        self._on_crash = on_crash
        self._random = random
        self._buffers: dict[Hashable, deque[Action]] = {}
        self._due: list[Action] = []
        self._held_ns = 0
        self._held_since_ns: int | None = None
        self._is_blocked = False
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
            self._measure()

    def resume(self) -> None:
        """Go on, with all that has waited."""
        if not self.is_paused:
            return
        self.is_paused = False
        self.is_running = self.is_alive
        self._measure()
        heard, due, self._due = self._read_buffers(), self._due, []
        first, second = (due, heard) if self._random.random() < 0.5 else (heard, due)
        for action in [*first, *second]:
            self.when_running(action)

    @property
    def is_blocked(self) -> bool:
        """Return whether the process waits for its disk before it may take another step."""
        return self._is_blocked

    @is_blocked.setter
    def is_blocked(self, is_blocked: bool) -> None:
        self._is_blocked = is_blocked
        self._measure()

    def running_ns(self) -> int:
        """Return the true time in which the process was neither paused nor blocked by its disk."""
        until_ns = self._scheduler.now_ns if self._held_since_ns is None else self._held_since_ns
        return until_ns - self._held_ns

    def _measure(self) -> None:
        """Begin or end a time in which the process is held up, by a pause, its disk or both."""
        now_ns = self._scheduler.now_ns
        if self.is_paused or self._is_blocked:
            if self._held_since_ns is None:
                self._held_since_ns = now_ns
        elif self._held_since_ns is not None:
            self._held_ns += now_ns - self._held_since_ns
            self._held_since_ns = None

    def when_running(self, action: Action) -> None:
        """Do it now, or when the process goes on; never if it has died."""
        if self.is_running:
            self.guard(action)
        elif self.is_alive:
            self._due.append(action)

    def when_reading(self, action: Action, connection: Hashable) -> None:
        """Do it now, or when the process reads this connection again."""
        if self.is_running:
            try:
                action()
            except Exception as error:  # noqa: BLE001 - as in `guard`, which costs a call
                self._on_crash(error)
        elif self.is_alive:
            self._buffers.setdefault(connection, deque()).append(action)

    def guard(self, action: Action) -> None:
        """Do it; an exception that nothing has handled is a crash, which ends the process."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - whatever it is, it would end a real process
            self._on_crash(error)

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
