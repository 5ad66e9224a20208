"""One process of a simulated node: the real Node, the real storage and the real shell.

The process implements the shell's ports over virtual time, together with disk_port.py, workers.py,
peer_transport.py and node_clock.py. See suspension.py for pauses, machine.py for starts.
"""

from collections.abc import Callable, Iterable

from msgspec.structs import asdict
from typing_extensions import override

from kraftproof.cluster.simulated.kernel.scheduler import Timer
from kraftproof.cluster.simulated.network.byte_stream import ServerSocket, SimulatedStream
from kraftproof.cluster.simulated.network.endpoints import ClientEndpoint, ServerEndpoint
from kraftproof.cluster.simulated.network.network import Call, Connection
from kraftproof.cluster.simulated.network.transport import Arrived
from kraftproof.cluster.simulated.node.client_hooks import received_hooks
from kraftproof.cluster.simulated.node.data_requests import (
    is_data_request,
    with_each_partition_once,
)
from kraftproof.cluster.simulated.node.disk_port import SimulatedDisk
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.logins import SimulatedLogins
from kraftproof.cluster.simulated.node.muted_connections import MutedConnections
from kraftproof.cluster.simulated.node.node_clock import SimulatedNodeClock
from kraftproof.cluster.simulated.node.peer_transport import SimulatedReplies, SimulatedTransport
from kraftproof.cluster.simulated.node.port_contract import PortContract
from kraftproof.cluster.simulated.node.stream_listener import StreamListener
from kraftproof.cluster.simulated.node.suspension import Suspension
from kraftproof.cluster.simulated.node.table_sizes import table_sizes
from kraftproof.cluster.simulated.node.workers import SimulatedWorkers
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant
from kraftproof.node.core.effects import Effect, Exit, Forward, Publish, Send
from kraftproof.node.core.events import Answered, Event, Received, Unanswered
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.node import Node
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.connection import Connection as ClientConnection
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.shell import ports
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.storage.stored import Storage
from kraftproof.node.wire.messages import Message


class NodeProcess(ServerEndpoint, ClientEndpoint, ports.Timers, ports.Process, ports.Observer):
    """A process of a node, from its start to its exit."""

    def __init__(
        self,
        env: NodeEnvironment,
        node: Node,
        storage: Storage,
        *,
        incarnation: int,
        is_controller: bool,
        has_authorizer: bool,
        trace: TraceWriter | None,
    ) -> None:
        self.node_id = env.node_id
        self.incarnation = incarnation
        self.log = env.log
        self.partitions = env.partitions
        self.log_files = env.log_files
        self.log_directories = env.log_directories
        self.status: NodeStatus | None = None
        self.event: Event | None = None
        self.image: MetadataImage = EMPTY_IMAGE
        """The image that the node published last."""
        self.was_asked_to_stop = False
        self._env = env
        self._monitor = env.monitor
        self._node = node
        self._trace = trace
        self._is_controller = is_controller
        self._listens = is_controller
        self._suspension = Suspension(env.scheduler, env.random, self.crashed)
        self._contract = PortContract(self, env.monitor)
        self._disk = SimulatedDisk(self, env, storage, self._contract)
        self._workers = SimulatedWorkers(env, self._suspension, self._contract)
        self._muted = MutedConnections(self.after)
        self._logins = SimulatedLogins(self, env)
        self._replies = SimulatedReplies(
            self, env.monitor, self._muted, has_authorizer=has_authorizer
        )
        self._clock = SimulatedNodeClock(env, node, after=self.after, tick=self._tick)
        self._shell = NodeShell(
            node,
            ports.Ports(
                disk=self._disk,
                workers=self._workers,
                transport=SimulatedTransport(self, self, env, self._contract),
                timers=self,
                clock=self._clock,
                replies=self._replies,
                process=self,
                observer=self,
            ),
        )
        self._stream_listener = StreamListener(
            self._shell,
            is_controller=is_controller,
            call_later=self.after,
            on_excess=self._contract.in_flight_exceeded,
        )

    def start(self) -> None:
        """Take the first step."""
        self._suspension.guard(self._shell.start)

    def end(self) -> None:
        """Kill the process (SIGKILL) and stop its tasks."""
        self._suspension.end()
        self._suspension.guard(self._close)
        self._env.network.process_died(self)

    def _close(self) -> None:
        self._workers.close()
        self._disk.close()
        self._shell.close()

    def leave_partitions(self) -> None:
        """Make the partition logs durable at an orderly exit, as the server does."""
        if len(self.partitions):
            self._disk.stop_partitions(self._node.broker_epoch)

    def pause(self) -> None:
        """SIGSTOP."""
        self._suspension.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self._suspension.resume()

    def stop(self) -> None:
        """SIGTERM."""
        self.was_asked_to_stop = True
        self._suspension.when_running(self._shell.stop)

    @property
    def is_paused(self) -> bool:
        """Return whether it is stopped."""
        return self._suspension.is_paused

    def look_at_clock(self) -> None:
        """The machine's monotonic clock runs at another rate now."""
        self._suspension.guard(self._clock.look_at_rate)

    @override
    def running_ns(self) -> int:
        """True time without this process's pauses and without its waits for its disk."""
        return self._suspension.running_ns()

    def wall_ms(self) -> int:
        """Return the wall clock of the node, with its faults, in milliseconds."""
        return self._env.clock.now().wall // NANOSECONDS_PER_MS

    def open_requests(self) -> Iterable[Received]:
        """Return the requests that have no answer yet."""
        return self._shell.open_requests

    def table_sizes(self) -> Iterable[tuple[str, int]]:
        """Return each table of the node's core and shell with its number of entries."""
        return table_sizes(self._node, self._shell)

    # The network's side

    @override
    def accepts(self) -> bool:
        return self._listens

    @override
    def serve(self, call: Call, arrived: Arrived) -> None:
        self._suspension.when_reading(lambda: self._serve(call, arrived), call.connection)

    def _serve(self, call: Call, arrived: Arrived) -> None:
        muted, outgoing = self._muted, call.outgoing
        if muted.mutes and muted.holds(call.connection, lambda: self._serve(call, arrived)):
            return
        if outgoing.forward is not None:
            self._contract.has_arrived(outgoing, arrived)
        admitted = self._logins.admit(call, arrived) if outgoing.is_secure else arrived
        if admitted is not None:
            request = asdict(admitted)
            self._shell.receive(call, on_controller_listener=self._is_controller, **request)

    @override
    def accept_stream(self, socket: ServerSocket) -> ClientConnection:
        return self._stream_listener.accept(socket)

    @override
    def read_stream(self, action: Callable[[], None], stream: SimulatedStream) -> None:
        self._suspension.when_reading(action, stream)

    @override
    def crashed(self, error: Exception) -> None:
        self._env.on_crash(self.node_id, error)

    @override
    def hear(self, action: Callable[[], None], connection: Connection) -> None:
        self._suspension.when_reading(action, connection)

    @override
    def is_answered(self, asked: Message, answered: Message) -> None:
        self._contract.is_answered(asked, answered)

    # The shell's ports

    @override
    def now_ns(self) -> int:
        """True time."""
        return self._env.scheduler.now_ns

    @override
    def after(self, delay_ns: int, action: Callable[[], None]) -> Timer:
        """Do it that much later, or when the process next runs."""
        when_running = self._suspension.when_running
        return self._env.scheduler.after(delay_ns, lambda: when_running(action))

    def _tick(self) -> None:
        self._shell.tick()

    @override
    def wake(self) -> None:
        self._shell.run()

    @override
    def open_client_listeners(self) -> None:
        self._listens = True
        for opened in self._monitor.on_listeners_opened:
            opened(self)

    @override
    def publish(self, effect: Publish) -> None:
        self.image = effect.image
        for published in self._monitor.on_published:
            published(self, effect.offset, effect.image)

    @override
    def exit(self, effect: Exit) -> None:
        self._env.on_exit(self, effect)

    @override
    def disk_failed(self, error: OSError) -> None:
        self._env.on_disk_error(self, error)

    @override
    def on_step(self, event: Event | None) -> None:
        self.event = event
        if self._contract.barrier is not None:
            self._contract.on_step(event)
        if type(event) is Received:
            judged = with_each_partition_once(event)
            for received in received_hooks(self._monitor, event):
                received(self, judged)
        elif type(event) is Answered:
            self._contract.request_ends(event.correlation)
        elif type(event) is Unanswered:
            self._contract.request_ends(event.correlation)
            for lost in self._monitor.on_unanswered:
                lost(self, event.correlation)

    @override
    def on_effect(self, effect: Effect) -> None:
        if self._contract.barrier is not None:
            self._contract.on_effect(effect)
        if self._env.on_effect is not None:
            self._env.on_effect(effect)

    @override
    def on_held(self) -> None:
        self._suspension.is_blocked = True

    @override
    def on_released(self) -> None:
        self._suspension.is_blocked = False

    @override
    def on_response(self, request: Send | Forward, message: Message) -> None:
        self._contract.on_response(request)
        hooks = self._monitor.on_response[type(request.message)]
        for heard in () if is_data_request(request) else hooks:
            heard(self, request, message)

    @override
    def on_stepped(self, now: Instant) -> None:
        """Tell the monitor the result of the step, once all of it is carried out."""
        monitor = self._monitor
        before, status = self.status, self._node.status()
        if status != before:
            self.status = status
            monitor.status_changed(self, before, status)
        if self._replies.replied:
            self._replies.on_step()
        if self._trace is not None:
            name = "start" if self.event is None else type(self.event).__name__
            self._trace.write(status, self._env.clock.now(), name)
        monitor.step_ended(self)
