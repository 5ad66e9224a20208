"""The shell's NodeClock in the simulator: virtual clocks, and the alarm for the node's deadline."""

from collections.abc import Callable
from typing import Final

from typing_extensions import override

from kraftproof.cluster.simulated.kernel.scheduler import Timer
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.node.core.base.types import AT_ONCE, Instant, Monotonic, milliseconds
from kraftproof.node.shell.ports import NodeClock, SteppedNode

WORK_NS: Final = milliseconds(2)
"""Time of a large step, after which a node with further work wants its next step at once."""


class SimulatedNodeClock(NodeClock):
    """One process's alarm; the timer is lazy, as most deadlines are put off before they come."""

    def __init__(
        self,
        env: NodeEnvironment,
        node: SteppedNode,
        *,
        after: Callable[[int, Callable[[], None]], Timer],
        tick: Callable[[], None],
    ) -> None:
        self._clock = env.clock
        self._scheduler = env.scheduler
        self._node = node
        self._after = after
        self._tick = tick
        self._timer: Timer | None = None
        self._timer_deadline: Monotonic | None = None
        """The node's deadline that the timer was set for, by the clock's present rate."""

    @override
    def now(self) -> Instant:
        return self._clock.now()

    @override
    def set_deadline(self, deadline: Monotonic | None) -> None:
        armed = self._timer_deadline
        if deadline is None or (armed is not None and armed <= deadline):
            return
        now_ns = self._scheduler.now_ns
        due_ns = max(self._clock.to_virtual(deadline), now_ns)
        if deadline == AT_ONCE:
            due_ns = now_ns + WORK_NS  # messages arrive meanwhile, and are handled before
        if self._timer is not None:
            if self._timer.time_ns <= due_ns:
                return
            self._timer.cancel()
        self._timer = self._after(due_ns - now_ns, self._ring)
        self._timer_deadline = deadline

    def look_at_rate(self) -> None:
        """Set the timer again: the monotonic clock runs at another rate now."""
        self._timer_deadline = None
        self.set_deadline(self._node.deadline())

    def _ring(self) -> None:
        """An earlier deadline may have been put off since; then wait for the new one."""
        self._timer = self._timer_deadline = None
        deadline = self._node.deadline()
        if deadline is None:
            return
        if self._clock.to_virtual(deadline) <= self._scheduler.now_ns:
            self._tick()
        else:
            self.set_deadline(deadline)
