"""The queue of events, and the steps of the node: one at a time, each with all its effects."""

from collections import deque
from collections.abc import Iterable
from typing import Generic

from kraftproof.node.core.base.security import PLAINTEXT_LISTENER, SecurityProtocol
from kraftproof.node.core.base.types import Instant, NodeId
from kraftproof.node.core.events import Event, Received, Stop, Tick
from kraftproof.node.core.quotas.request_times import RequestTimes
from kraftproof.node.shell.effect_executor import EffectExecutor
from kraftproof.node.shell.ports import ClientT, ConnectionT, Ports, SteppedNode
from kraftproof.node.shell.request_clock import RequestClock
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal


class NodeShell(Generic[ClientT, ConnectionT]):
    """One running node."""

    def __init__(
        self,
        node: SteppedNode,
        ports: Ports[ClientT, ConnectionT],
        request_times: RequestTimes | None = None,
    ) -> None:
        """Begin before the first step; without `request_times`, a request takes no time."""
        clock = ports.clock
        self._request_clock = None if request_times is None else RequestClock(request_times, clock)
        self._node = node
        self._clock = ports.clock
        self._process = ports.process
        self._observer = ports.observer
        self._executor = EffectExecutor(
            ports,
            post=self.post,
            post_first=self._post_first,
            request_clock=self._request_clock,
        )
        self._events: deque[Event] = deque()
        self._step_began: Instant | None = None
        """When the step that is still being carried out began."""
        self._is_running = False

    @property
    def has_work(self) -> bool:
        """Return whether `run` would do something now."""
        executor = self._executor
        is_free = not executor.is_held and not executor.is_over
        return is_free and bool(self._events or self._step_began)

    @property
    def is_held(self) -> bool:
        """Return whether no step is taken until the disk is done."""
        return self._executor.is_held

    @property
    def open_requests(self) -> Iterable[Received]:
        """The requests of clients and peers that have no answer yet."""
        return self._executor.requests.open_requests

    @property
    def destinations(self) -> set[NodeId]:
        """The peers that a request was sent to."""
        return self._executor.lanes.destinations

    def start(self) -> None:
        """Take the first step."""
        self._is_running = True
        self._step(None)
        self._is_running = False

    def post(self, event: Event) -> None:
        """Put an event at the end of the queue."""
        if not self._executor.is_over:
            self._events.append(event)
            self._process.wake()

    def _post_first(self, event: Event) -> None:
        """Put an event before the others: the node must not decide on a failed disk."""
        if not self._executor.is_over:
            self._events.appendleft(event)
            self._process.wake()

    def tick(self) -> None:
        """Take the node's deadline as reached."""
        self.post(Tick())

    def stop(self) -> None:
        """Stop in order, as SIGTERM asks."""
        self.post(Stop())

    def receive(
        self,
        client: ClientT,
        *,
        message: Message,
        version: int,
        on_controller_listener: bool,
        principal: Principal,
        client_host: str,
        forwarded_by: Principal | None = None,
        forwarder_host: str = "",
        listener: str = PLAINTEXT_LISTENER,
        security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
        client_id: str = "",
        correlation_id: int = 0,
    ) -> None:
        """Take a request whose answer goes to `client`."""
        self.post(
            self._executor.requests.receive(
                client,
                message=message,
                version=version,
                on_controller_listener=on_controller_listener,
                principal=principal,
                client_host=client_host,
                forwarded_by=forwarded_by,
                forwarder_host=forwarder_host,
                listener=listener,
                security_protocol=security_protocol,
                client_id=client_id,
                correlation_id=correlation_id,
            )
        )

    def run(self, most_steps: int | None = None) -> None:
        """Step through the events that wait, unless the disk or a step holds them up."""
        executor = self._executor
        if self._is_running or executor.is_over:
            return
        self._is_running = True
        if self._step_began is not None and not executor.is_held:
            if self._request_clock is not None:
                self._request_clock.resume()
            self._execute(self._step_began)
        while self._events and not executor.is_held and not executor.is_over:
            if most_steps is not None:
                if most_steps == 0:
                    break
                most_steps -= 1
            self._step(self._events.popleft())
        self._is_running = False

    def close(self) -> None:
        """Stop the shell: the process ends."""
        self._executor.close()

    def _step(self, event: Event | None) -> None:
        self._observer.on_step(event)
        if self._request_clock is not None:
            self._request_clock.begin(event)
        node, now = self._node, self._clock.now()
        self._step_began = now
        self._executor.add(node.start(now) if event is None else node.step(event, now))
        self._execute(now)

    def _execute(self, now: Instant) -> None:
        clock, is_over = self._request_clock, self._executor.execute()
        if clock is not None:
            clock.pause(self._executor.requests.is_open, is_over=is_over)
        if is_over:
            self._step_began = None
            self._observer.on_stepped(now)
            self._clock.set_deadline(self._node.deadline())
