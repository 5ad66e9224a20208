"""One process of a simulated node: the real Node and the real storage, and their shell.

It keeps the contract of node/core/effects.py as node/server does: effects in order, barriers that
hold back later effects and events, one step at a time. Not: how an effect is carried out
(hands.py), pauses (suspension.py), machines and their starts (machine.py).
"""

from collections import deque
from collections.abc import Callable

from typing_extensions import override

from kraftproof.cluster.simulated.kernel.scheduler import Timer
from kraftproof.cluster.simulated.network.endpoints import Party, Server
from kraftproof.cluster.simulated.network.network import Call, Connection
from kraftproof.cluster.simulated.network.transport import Arrived
from kraftproof.cluster.simulated.node.effect_executor import Hands
from kraftproof.cluster.simulated.node.environment import Surroundings
from kraftproof.cluster.simulated.node.suspension import Suspension
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.effects import (
    CleanLog,
    Effect,
    InstallSnapshot,
    PersistQuorumState,
    Truncate,
)
from kraftproof.node.core.events import Event, Received, Stop, Tick
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.node import Node
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.storage.stored import Storage

_AWAITS_FSYNC = frozenset((Truncate, InstallSnapshot, CleanLog))
"""What may not happen to a file that an fsync is under way on."""
_BARRIERS = frozenset((Truncate, InstallSnapshot, PersistQuorumState))
"""What holds back all that comes after it, until it is on disk."""


class NodeProcess(Server, Party):
    """From one start to one end."""

    def __init__(
        self,
        around: Surroundings,
        node: Node,
        storage: Storage,
        *,
        life: int,
        is_controller: bool,
        trace: TraceWriter | None,
    ) -> None:
        self.node_id = around.node_id
        self.life = life
        self.log = around.log
        self.status: NodeStatus | None = None
        self._around = around
        self._jury = around.jury
        self._node = node
        self._trace = trace
        self._is_controller = is_controller
        self._suspension = Suspension(around.scheduler, around.random, self.crashed)
        self._hands = Hands(
            self,
            self,
            around,
            storage,
            listens=is_controller,
            take=self._take,
            when_running=self._suspension.when_running,
            guard=self._suspension.guard,
        )
        self._effects: deque[Effect] = deque()
        self._backlog: deque[Event] = deque()
        self._awaits_fsync = False
        self._is_stepping = False
        self.event: Event | None = None
        self._tick: Timer | None = None
        self._tick_deadline: Monotonic | None = None
        """The node's deadline that the timer was set for, by the clock's present rate."""
        self._next_request = 0

    # Life

    def start(self) -> None:
        """Take the first step."""
        self._suspension.guard(lambda: self._do(None))

    def end(self) -> None:
        """SIGKILL: nothing of it runs any more."""
        self._suspension.end()
        self._suspension.guard(self._hands.close)
        self._around.network.process_died(self)

    def pause(self) -> None:
        """SIGSTOP."""
        self._suspension.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self._suspension.resume()

    def stop(self) -> None:
        """SIGTERM."""
        self._suspension.when_running(lambda: self._take(Stop()))

    @property
    def is_paused(self) -> bool:
        """Whether it is stopped."""
        return self._suspension.is_paused

    @property
    def image(self) -> MetadataImage:
        """The image that it published last."""
        return self._hands.image

    def look_at_clock(self) -> None:
        """The machine's monotonic clock runs at another rate now."""
        self._tick_deadline = None
        self._suspension.guard(self._arm)

    def now_ns(self) -> int:
        """True time."""
        return self._around.scheduler.now_ns

    def running_ns(self) -> int:
        """True time without this process's pauses and without its waits for its disk."""
        return self._suspension.running_ns()

    # What reaches it

    @override
    def accepts(self) -> bool:
        return self._hands.listens

    @override
    def serve(self, call: Call, arrived: Arrived) -> None:
        if self._suspension.is_running:
            self._suspension.guard(lambda: self._serve(call, arrived))
        else:
            self._suspension.when_reading(lambda: self._serve(call, arrived), call.connection)

    @override
    def crashed(self, error: Exception) -> None:
        self._around.on_crash(self.node_id, error)

    @override
    def hear(self, action: Callable[[], None], connection: Connection) -> None:
        self._suspension.when_reading(action, connection)

    @override
    def after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        when_running = self._suspension.when_running
        return self._around.scheduler.after(delay_ns, lambda: when_running(action))

    def _serve(self, call: Call, arrived: Arrived) -> None:
        self._next_request += 1
        event = Received(
            request=self._next_request,
            message=arrived.message,
            version=arrived.version,
            on_controller_listener=self._is_controller,
            principal=arrived.principal,
            client_host=arrived.client_host,
            forwarded_by=arrived.forwarded_by,
        )
        self._hands.calls[self._next_request] = (call, event)
        self._take(event)

    # Steps

    def _take(self, event: Event) -> None:
        self._backlog.append(event)
        self._run()

    def _run(self) -> None:
        """Step through what waits, unless a barrier or a step is under way."""
        if self._is_stepping:
            return
        self._is_stepping = True
        if self._awaits_fsync and not self._hands.is_flushing:
            self._awaits_fsync = self._suspension.is_blocked = False
            self._carry_out()
        while self._backlog and not self._suspension.is_blocked and self._suspension.is_running:
            self._do(self._backlog.popleft())
        self._is_stepping = False

    def _do(self, event: Event | None) -> None:
        """Step through an event, or the start."""
        self.event = event
        if type(event) is Received:
            for received in self._jury.on_received[type(event.message)]:
                received(self, event)
        node, now = self._node, self._around.clock.now()
        self._effects.extend(node.start(now) if event is None else node.step(event, now))
        self._carry_out()

    def _carry_out(self) -> None:
        effects, hands, suspension = self._effects, self._hands, self._suspension
        while effects and suspension.is_alive:
            kind = type(effects[0])
            if hands.is_flushing and kind in _AWAITS_FSYNC:
                self._awaits_fsync = suspension.is_blocked = True
                return
            effect = effects.popleft()
            try:
                hands.carry_out(effect)
            except OSError as error:
                self._around.on_disk_error(self, error)
                return
            if self._around.on_effect is not None:
                self._around.on_effect(effect)
            if kind in _BARRIERS:
                suspension.is_blocked = True
                self.after(self._around.fsync_ns(), self._pass_barrier)
                return
        if suspension.is_alive:
            self._observe()
            self._arm()

    def _pass_barrier(self) -> None:
        self._suspension.is_blocked = False
        self._carry_out()
        self._run()

    def _observe(self) -> None:
        """Tell the jury what the step has come to, once all of it is carried out."""
        jury, hands = self._jury, self._hands
        status = self._node.status()
        before, self.status = self.status, status
        if status != before:
            jury.moved(self, before, status)
        if hands.replied:
            for event, message in hands.replied:
                for replied in jury.on_replied[type(event.message)]:
                    replied(self, event, message)
            hands.replied.clear()
        if self._trace is not None:
            name = "start" if self.event is None else type(self.event).__name__
            self._trace.write(status, self._around.clock.now(), name)
        jury.stepped(self)

    # The deadline

    def _arm(self) -> None:
        deadline = self._node.deadline()
        armed = self._tick_deadline
        if deadline is None or (armed is not None and armed <= deadline):
            return
        due_ns = max(self._around.clock.to_virtual(deadline), self.now_ns())
        if self._tick is not None:
            if self._tick.time_ns <= due_ns:
                return
            self._tick.cancel()
        self._tick = self.after(due_ns - self.now_ns(), self._ring)
        self._tick_deadline = deadline

    def _ring(self) -> None:
        """An earlier deadline may have been put off since; then wait for the new one."""
        self._tick = self._tick_deadline = None
        deadline = self._node.deadline()
        if deadline is not None and self._around.clock.to_virtual(deadline) <= self.now_ns():
            self._take(Tick())
        else:
            self._arm()
