"""One process of a simulated node: the real Node and the real storage, and their shell.

It keeps the contract of node/core/effects.py as node/server does: effects in order, barriers that
hold back later effects and events, one fsync at a time, one step at a time. While it is paused
nothing of it runs; its machine buffers what arrives. Not: machines and their starts (machine.py).
"""

from collections import deque
from collections.abc import Callable
from random import Random

from typing_extensions import override

from cluster.protocol import Link
from cluster.simulated.clock import SimulatedClock
from cluster.simulated.log_mirror import LogMirror
from cluster.simulated.network import Call, Connection, Network, Party, Server
from cluster.simulated.passage import Arrived, Outgoing
from cluster.simulated.scheduler import Scheduler, Timer
from cluster.simulated.witness import Jury
from node.core.effects import (
    Append,
    Effect,
    Exit,
    Flush,
    Forward,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    Send,
    Truncate,
)
from node.core.events import Answered, Event, Flushed, Received, Stop, Tick, Unanswered
from node.core.metadata.image import EMPTY_IMAGE
from node.core.node import Node
from node.core.status import NodeStatus
from node.server.trace import TraceWriter
from node.storage.stored import Storage
from node.wire.messages import Message
from node.wire.messages.generated.fetch_request import FetchRequest

FSYNC_NS = 300_000
SLOW_FSYNC_NS = 20_000_000
SLOW_FSYNC_SHARE = 0.01


class Surroundings:
    """What a process finds around it, the same for all of one machine."""

    __slots__ = ("clock", "jury", "log", "network", "node_id", "on_exit", "random", "scheduler")

    def __init__(
        self,
        *,
        node_id: int,
        scheduler: Scheduler,
        network: Network,
        clock: SimulatedClock,
        jury: Jury,
        random: Random,
        on_exit: Callable[["NodeProcess", Exit], None],
    ) -> None:
        self.node_id = node_id
        self.scheduler = scheduler
        self.network = network
        self.clock = clock
        self.jury = jury
        self.random = random
        self.on_exit = on_exit
        self.log = LogMirror()


def _nothing() -> None:
    """What most appends cause in the harness."""


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
        trace: TraceWriter,
    ) -> None:
        self.node_id = around.node_id
        self.life = life
        self.node = node
        self.log = around.log
        self.status: NodeStatus | None = None
        self.image = EMPTY_IMAGE
        self.on_next_append: Callable[[], None] = _nothing
        self.is_alive = True
        self.is_paused = False
        self._around = around
        self._storage = storage
        self._trace = trace
        self._is_controller = is_controller
        self._listens = is_controller
        self._effects: deque[Effect] = deque()
        self._backlog: deque[Event] = deque()
        self._is_blocked = False
        self._is_stepping = False
        self._event = "start"
        self._flushes: list[Flush] = []
        self._is_flushing = False
        self._tick: Timer | None = None
        self._connections: dict[tuple[int, str], Connection] = {}
        self._calls: dict[int, tuple[Call, Received]] = {}
        self._next_call = 0
        self._replied: list[tuple[Received, Message]] = []
        self._inbox: dict[Connection, deque[Callable[[], None]]] = {}
        self._due: list[Callable[[], None]] = []
        self._paused_ns = 0
        self._paused_since_ns = 0

    # Life

    def start(self) -> None:
        """Take the first step."""
        self._effects.extend(self.node.start(self._around.clock.now()))
        self._carry_out()

    def end(self) -> None:
        """SIGKILL: nothing of it runs any more."""
        self.is_alive = False
        self._storage.close()
        for connection in self._connections.values():
            connection.close()
        self._around.network.process_died(self)

    def pause(self) -> None:
        """SIGSTOP."""
        if not self.is_paused:
            self.is_paused = True
            self._paused_since_ns = self.now_ns()

    def resume(self) -> None:
        """SIGCONT: sockets and timers are both ready; which is looked at first is chance."""
        if not self.is_paused:
            return
        self.is_paused = False
        self._paused_ns += self.now_ns() - self._paused_since_ns
        heard, due = self._in_any_order(), self._due
        self._due = []
        first, second = (due, heard) if self._around.random.random() < 0.5 else (heard, due)
        for action in [*first, *second]:
            self._expire(action)

    def _in_any_order(self) -> list[Callable[[], None]]:
        """Empty the sockets' buffers: in order on each connection, in none between them."""
        queues = list(self._inbox.values())
        self._inbox = {}
        actions = []
        while queues:
            index = self._around.random.randrange(len(queues))
            actions.append(queues[index].popleft())
            if not queues[index]:
                del queues[index]
        return actions

    def now_ns(self) -> int:
        """True time."""
        return self._around.scheduler.now_ns

    def running_ns(self) -> int:
        """True time without this process's pauses."""
        now_ns = self.now_ns()
        current_ns = now_ns - self._paused_since_ns if self.is_paused else 0
        return now_ns - self._paused_ns - current_ns

    # What reaches it

    @override
    def accepts(self) -> bool:
        return self._listens

    @override
    def serve(self, call: Call, arrived: Arrived) -> None:
        self.hear(lambda: self._serve(call, arrived), call.connection)

    def _serve(self, call: Call, arrived: Arrived) -> None:
        self._next_call += 1
        event = Received(
            request=self._next_call,
            message=arrived.message,
            version=arrived.version,
            on_controller_listener=self._is_controller,
            principal=arrived.principal,
            client_host=arrived.client_host,
            forwarded_by=arrived.forwarded_by,
        )
        self._calls[self._next_call] = (call, event)
        self._take(event)

    @override
    def hear(self, action: Callable[[], None], connection: Connection) -> None:
        if self.is_alive and self.is_paused:
            self._inbox.setdefault(connection, deque()).append(action)
        elif self.is_alive:
            action()

    @override
    def after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        return self._around.scheduler.after(delay_ns, lambda: self._expire(action))

    def stop(self) -> None:
        """SIGTERM."""
        self._expire(lambda: self._take(Stop()))

    def _expire(self, action: Callable[[], None]) -> None:
        if self.is_alive and self.is_paused:
            self._due.append(action)
        elif self.is_alive:
            action()

    # Steps

    def _take(self, event: Event) -> None:
        self._backlog.append(event)
        if not self._is_stepping:
            self._run()

    def _run(self) -> None:
        self._is_stepping = True
        while self._backlog and not self._is_blocked and self.is_alive and not self.is_paused:
            self._step(self._backlog.popleft())
        self._is_stepping = False

    def _step(self, event: Event) -> None:
        self._event = type(event).__name__
        if isinstance(event, Received):
            for witness in self._around.jury.on_received:
                witness(self, event)
        self._effects.extend(self.node.step(event, self._around.clock.now()))
        self._carry_out()

    def _carry_out(self) -> None:
        effects = self._effects
        while effects and self.is_alive:
            if self._is_flushing and isinstance(effects[0], Truncate):
                self._is_blocked = True
                return
            if self._execute(effects.popleft()):
                self._is_blocked = True
                self.after(self._fsync_ns(), self._unblock)
                return
        if self.is_alive:
            self._observe()
            self._arm()

    def _unblock(self) -> None:
        self._is_blocked = False
        self._carry_out()
        if not self._is_stepping:
            self._run()

    def _observe(self) -> None:
        jury = self._around.jury
        status = self.node.status()
        before, self.status = self.status, status
        if status != before:
            for moved in jury.on_moved:
                moved(self, before, status)
        for event, message in self._replied:
            for replied in jury.on_replied:
                replied(self, event, message)
        self._replied.clear()
        self._trace.write(status, self._around.clock.now(), self._event)
        for stepped in jury.on_stepped:
            stepped(self)

    # The deadline

    def _arm(self) -> None:
        deadline = self.node.deadline()
        if deadline is None:
            return
        due_ns = max(self._around.clock.to_virtual(deadline), self.now_ns())
        if self._tick is not None:
            if self._tick.time_ns <= due_ns:
                return
            self._tick.cancel()
        self._tick = self._around.scheduler.at(due_ns, lambda: self._expire(self._ring))

    def _ring(self) -> None:
        self._tick = None
        deadline = self.node.deadline()
        if deadline is None:
            return
        if self._around.clock.to_virtual(deadline) <= self.now_ns():
            self._take(Tick())
        else:
            self._arm()

    # Effects

    def _execute(self, effect: Effect) -> bool:
        """Carry out one effect; true if it is a barrier that takes its time."""
        match effect:
            case Append():
                self._append(effect)
            case Flush():
                self._flush(effect)
            case Truncate():
                self._truncate(effect)
                return True
            case PersistQuorumState():
                self._persist(effect)
                return True
            case Send():
                self._send(effect)
            case Forward():
                self._forward(effect)
            case Reply():
                self._reply(effect)
            case Publish():
                self.image = effect.image
                for published in self._around.jury.on_published:
                    published(self, effect.offset, effect.image)
            case OpenClientListeners():
                self._listens = True
            case Exit():
                self._around.on_exit(self, effect)
        return False

    def _append(self, effect: Append) -> None:
        self._storage.append(effect)
        self.log.append(effect.batch)
        self.on_next_append()
        for appended in self._around.jury.on_appended:
            appended(self, effect.batch)

    def _truncate(self, effect: Truncate) -> None:
        for truncated in self._around.jury.on_truncated:
            truncated(self, effect.end_offset)
        self._storage.truncate(effect)
        self.log.truncate(effect.end_offset)

    def _persist(self, effect: PersistQuorumState) -> None:
        self._storage.persist_quorum_state(effect)
        for persisted in self._around.jury.on_persisted:
            persisted(self, effect.state)

    def _flush(self, effect: Flush) -> None:
        self._flushes.append(effect)
        if not self._is_flushing:
            self._start_fsync()

    def _start_fsync(self) -> None:
        self._is_flushing = True
        flushes, self._flushes = self._flushes, []
        fsync = self._storage.start_flush(flushes[-1])
        end_offset = self.log.end_offset

        def finish() -> None:
            if not self.is_alive:
                return
            fsync()
            self.log.durable_end = max(self.log.durable_end, end_offset)
            self._expire(lambda: self._fsynced(flushes))

        self._around.scheduler.after(self._fsync_ns(), finish)

    def _fsynced(self, flushes: list[Flush]) -> None:
        for flush in flushes:
            self._take(Flushed(generation=flush.generation, end_offset=flush.end_offset))
        if not self.is_alive:
            return
        if self._flushes:
            self._start_fsync()
            return
        self._is_flushing = False
        if self._is_blocked and self._effects and isinstance(self._effects[0], Truncate):
            self._unblock()

    def _fsync_ns(self) -> int:
        random = self._around.random
        if random.random() < SLOW_FSYNC_SHARE:
            return int(random.random() * SLOW_FSYNC_NS)
        return int(FSYNC_NS * (0.5 + random.random()))

    def _send(self, effect: Send) -> None:
        for sent in self._around.jury.on_sent:
            sent(self, effect)
        lane = "fetch" if isinstance(effect.message, FetchRequest) else "other"
        outgoing = Outgoing(message=effect.message, version=effect.version)
        self._ask(effect, lane, outgoing)

    def _forward(self, effect: Forward) -> None:
        outgoing = Outgoing(message=effect.message, version=effect.version, forward=effect)
        self._ask(effect, "forward", outgoing)

    def _ask(self, effect: Send | Forward, lane: str, outgoing: Outgoing) -> None:
        connection = self._connections.get((effect.destination, lane))
        if connection is None or not connection.is_open:
            link = Link(self.node_id, effect.destination)
            connection = self._around.network.connect(link, self)
            self._connections[effect.destination, lane] = connection
        correlation = effect.correlation
        connection.send(
            outgoing, effect.timeout_ns, lambda answer: self._answered(correlation, answer)
        )

    def _answered(self, correlation: int, answer: Message | None) -> None:
        if not self.is_alive:
            return
        if answer is None:
            self._take(Unanswered(correlation=correlation))
        else:
            self._take(Answered(correlation=correlation, message=answer))

    def _reply(self, effect: Reply) -> None:
        call, event = self._calls.pop(effect.request)
        for replying in self._around.jury.on_replying:
            replying(self, event, effect.message)
        self._replied.append((event, effect.message))
        call.answer(effect.message)
