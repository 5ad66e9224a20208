"""The process around one Node: the shell, its ports over the machine, and the event loop.

See node/shell for the contract of effects. Here are the listeners, the loop that lets the shell
run, the trace and the metrics, and the end.
"""

import asyncio
import random
from collections.abc import Mapping

from typing_extensions import override

from kraftproof.node.core.audit import Audited, audit_line
from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Instant, Monotonic, Offset
from kraftproof.node.core.configs.dynamic import MAX_CONNECTIONS, broker_number
from kraftproof.node.core.effects import Effect, Exit, Publish
from kraftproof.node.core.events import DirectoryFailed, Event
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.version import METADATA_VERSION
from kraftproof.node.core.node import Node
from kraftproof.node.core.quotas.connection_rates import ConnectionRates
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.properties.config import ServerConfig
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.properties.tls_contexts import server_context
from kraftproof.node.server.clocks import LoopClock, LoopTimers, read_clocks
from kraftproof.node.server.connection import Connection, Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.listener import Listener, Logins
from kraftproof.node.server.metrics.node_metrics import MeasuredNode, Meter, unknown_voters
from kraftproof.node.server.peer_transport import PeerSocket, PeerTransport
from kraftproof.node.server.pending_requests import ClientReplies, PendingRequest, receive_request
from kraftproof.node.server.requests import Request
from kraftproof.node.server.security.peer_credentials import PeerCredentials
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.server.turns import Turns
from kraftproof.node.server.workers import ThreadWorkers
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.shell.ports import Observer, Ports, Process
from kraftproof.node.storage.bootstrap import bootstrap_image
from kraftproof.node.storage.stored import Stored
from kraftproof.node.wire.schema import Message

GOODBYE_SECONDS = 0.2
"""Time in which the last answers must leave the sockets."""


class NodeProcess(Process, Observer):
    """One running node."""

    def __init__(
        self,
        config: ServerConfig,
        node_config: NodeConfig,
        stored: Stored,
        *,
        hosts: Mapping[str, str],
        trace: TraceWriter | None,
    ) -> None:
        chance = random.Random(random.SystemRandom().getrandbits(256))
        self._node = Node(
            node_config,
            stored.durable,
            stored.batches,
            chance,
            read_clocks(),
            history=stored.history,
            partitions=stored.partitions,
        )
        self._node_id = node_config.node_id
        self._connections = config.connections
        self._storage = stored.storage
        self._trace = trace
        self._meter = self._measure(config, node_config)
        self._times = RequestTimes(node_config.byte_quotas)
        self._connection_rates = ConnectionRates(node_config.byte_quotas)
        self._workers = ThreadWorkers(self._flushed)
        self._clock = LoopClock(self._tick)
        self._transport = PeerTransport(
            node_config,
            hosts,
            config.inter_broker_listener,
            to_controllers=PeerCredentials(config.controller_peers),
            to_brokers=PeerCredentials(config.broker_peers),
        )
        self._published: tuple[MetadataImage, Offset] = (EMPTY_IMAGE, Offset(0))
        self._bootstrap = bootstrap_image(node_config)
        logins = self._logins(config.failed_login_delay_ms)
        ports: Ports[PendingRequest, PeerSocket] = Ports(
            disk=self._storage,
            workers=self._workers,
            transport=self._transport,
            timers=LoopTimers(),
            clock=self._clock,
            replies=ClientReplies(self._replied, self._workers.encoder),
            process=self,
            observer=self,
        )
        node = self._node if self._meter is None else MeasuredNode(self._node, self._meter)
        self._shell = NodeShell(node, ports, self._times)
        self._listeners = [self._listener(config, binding, logins) for binding in config.bindings]
        self._early_listeners = self._early(config)
        self._event = "start"
        self._turns = Turns(self._shell, None if self._meter is None else self._meter.idled)

    def _early(self, config: ServerConfig) -> list[Listener]:
        """Return the listeners that open at the start."""
        return [
            listener
            for listener, binding in zip(self._listeners, config.bindings, strict=True)
            if binding.is_controller or binding.name in config.early_listeners
        ]

    def _logins(self, failed_delay_ms: int) -> Logins:
        return Logins(self._known, read_clocks, failed_delay_ms, lambda: self._node.client_versions)

    def _measure(self, config: ServerConfig, node_config: NodeConfig) -> Meter | None:
        if config.metrics_address is None:
            return None
        return Meter(
            config.metrics_address,
            self._node.status(),
            read_clocks,
            lambda: unknown_voters(node_config, self._shell.destinations),
            voters=len(node_config.voters),
        )

    async def run(self) -> int:
        """Run until the node exits, and return the status to exit with."""
        for listener in self._early_listeners:
            await listener.open()
        if self._meter is not None:
            await self._meter.endpoint.open()
        self._shell.start()
        reason = await self._turns.run()
        await self._close(reason)
        if reason.status:
            say(reason.reason)
        return reason.status

    def stop(self) -> None:
        """SIGTERM has come."""
        self._shell.stop()

    # The shell's ports

    @override
    def wake(self) -> None:
        self._turns.wake()

    @override
    def open_client_listeners(self) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            if listener not in self._early_listeners:
                task = loop.create_task(listener.open())
                task.add_done_callback(self._opened)

    def _opened(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._turns.leave(Exit(status=1, reason=f"listeners: {error}"))

    @override
    def publish(self, effect: Publish) -> None:
        """Take the addresses of brokers, the credentials of clients, and the limit."""
        self._published = (effect.image, effect.offset)
        self._times.follow(effect.image)
        self._connection_rates.follow(effect.image)
        self._transport.image = effect.image
        limit = broker_number(effect.image, self._node_id, MAX_CONNECTIONS, self._connections)
        for listener in self._listeners:
            listener.limit = limit
        if self._meter is not None:
            self._meter.image = effect.image

    @override
    def exit(self, effect: Exit) -> None:
        self._turns.leave(effect)
        self._write_trace(read_clocks())

    @override
    def disk_failed(self, error: OSError) -> None:
        """Disk failures are fatal: the disk's content is unknown, so nothing more may be said."""
        self._turns.leave(Exit(status=1, reason=f"the disk failed: {error}"))

    def _known(self) -> tuple[MetadataImage, Offset]:
        """Return the published image; before a controller was active, that of the format step."""
        image, offset = self._published
        return (image if METADATA_VERSION in image.features else self._bootstrap), offset

    # The shell's observer

    @override
    def on_step(self, event: Event | None) -> None:
        self._event = "start" if event is None else type(event).__name__
        if isinstance(event, DirectoryFailed):
            say(
                f"a log directory failed: {event.reason}; its partitions are offline here"
                " until the next start"
            )

    @override
    def on_stepped(self, now: Instant) -> None:
        self._write_trace(now)

    @override
    def on_effect(self, effect: Effect) -> None:
        if type(effect) is Audited:
            say(audit_line(effect))

    def _write_trace(self, now: Instant) -> None:
        if self._trace is not None:
            try:
                self._trace.write(self._node.status(), now, self._event)
            except OSError as error:
                self._shell.close()
                self.disk_failed(error)

    # Callbacks

    def _tick(self) -> None:
        self._shell.tick()

    def _flushed(self, begun: Monotonic) -> None:
        if self._meter is not None:
            self._meter.flushed(begun)

    def _replied(self, request: Message, since: Monotonic) -> None:
        if self._meter is not None:
            self._meter.answered(request, since)

    def _listener(self, config: ServerConfig, binding: Binding, logins: Logins) -> Listener:
        tls = binding.security.tls
        listener = Listener(
            binding,
            limit=config.connections,
            frame_bytes=config.frame_bytes,
            on_request=self._receive,
            logins=logins,
            tls=None if tls is None else server_context(tls),
            rates=self._connection_rates,
            idle_ns=config.idle_ns,
        )
        if self._meter is not None:
            listener.clients = self._meter.clients
        return listener

    def _receive(
        self, binding: Binding, connection: Connection, request: Request, slot: Slot
    ) -> None:
        receive_request(self._shell, binding, connection.host, request, slot, connection.principal)

    def _note_offsets(self) -> None:
        """Nothing depends on it: a disk that fails only now makes the next start read more."""
        try:
            node = self._node
            self._storage.stopped(node.status().high_watermark, node.broker_epoch)
        except OSError as error:
            say(f"the disk failed after the stop: {error}")

    async def _close(self, reason: Exit) -> None:
        self._clock.set_deadline(None)
        if self._meter is not None:
            self._meter.endpoint.close()
        for listener in self._listeners:
            listener.close()
        await asyncio.sleep(GOODBYE_SECONDS)
        self._shell.close()
        self._workers.close()
        if reason.status == 0:
            self._note_offsets()
        self._storage.close()
        if self._trace is not None:
            self._trace.close()
