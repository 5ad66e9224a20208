"""A broker with a quorum and a controller that say what the test wants."""

from random import Random

from kraftproof.node.core.base.config import Endpoint, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.broker.broker import Broker
from kraftproof.node.core.effects import Effect, Exit, Forward, Reply, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.types import Uuid

TIMEOUTS = Timeouts(
    request_ns=2000,
    retry_backoff_ns=20,
    retry_backoff_max_ns=100,
    heartbeat_interval_ns=500,
    session_ns=3000,
    initial_registration_ns=10_000,
    directory_failure_ns=7_000,
)
DIRECTORIES = (Uuid(bytes([201] * 16)), Uuid(bytes([202] * 16)))
TOPIC = Uuid(bytes([7] * 16))
ALICE = Principal(type="User", name="alice")


class StandInRaft:
    def __init__(self) -> None:
        self.leader = NodeId(101)
        self.epoch = Epoch(1)
        self.is_leader = False


class Bench:
    """The broker, the clock and all that it asks for."""

    def __init__(
        self,
        static_configs: tuple[tuple[str, str], ...] = (),
        *,
        log_dirs: tuple[Uuid, ...] = (),
        asks_controller_versions: bool = False,
    ) -> None:
        self.config = NodeConfig(
            static_configs=static_configs,
            log_dirs=log_dirs,
            node_id=NodeId(1),
            cluster_id="a-cluster",
            is_controller=False,
            is_broker=True,
            voters=(
                Voter(node_id=NodeId(102), host="d", port=2),
                Voter(node_id=NodeId(101), host="c", port=1),
            ),
            endpoints=(
                Endpoint(name="CONTROLLER", host="x", port=9, is_controller=True),
                Endpoint(name="CLIENT", host="b1", port=9001, is_controller=False),
            ),
            rack="r1",
            incarnation=Uuid(bytes([5] * 16)),
            timeouts=TIMEOUTS,
            asks_controller_versions=asks_controller_versions,
        )
        self.monotonic = 0
        self.raft = StandInRaft()
        self.committed = CommittedImage()
        self.outbox = Outbox()
        self.broker = Broker(
            self.config, self.raft, self.committed, self.outbox, Random(3), self.now
        )
        self._requests = 0

    @property
    def now(self) -> Instant:
        return Instant(Monotonic(self.monotonic), WallClock(0))

    def due(self) -> list[Effect]:
        """Go on to the next deadline; what follows."""
        deadline = self.broker.deadline()
        assert deadline is not None
        self.monotonic = max(deadline, self.monotonic)
        return self.tick()

    def tick(self) -> list[Effect]:
        self.broker.tick(self.now)
        return self.advance()

    def advance(self) -> list[Effect]:
        self.broker.advance(self.now)
        return self.outbox.drain()

    def see(self, offset: int) -> list[Effect]:
        """All records below `offset` are committed and applied here."""
        self.committed.offset = Offset(offset)
        return self.advance()

    def answer(self, sent: Send | Forward, message: Message | None) -> list[Effect]:
        self.outbox.resume(sent.correlation, message, self.now)
        return self.advance()

    def next_send(self) -> Send:
        """The one request that is asked next, whenever that is."""
        for _ in range(100):
            for effect in self.due():
                if isinstance(effect, Send):
                    return effect
        raise AssertionError("nothing was asked")

    def exit(self, answer: Message | None) -> Exit:
        """Go on until the broker exits, with the same answer to each request on the way."""
        for _ in range(10_000):
            effects = self.due()
            if ends := exits(effects):
                (end,) = ends
                return end
            for sent in effects:
                if isinstance(sent, Send):
                    self.answer(sent, answer)
        raise AssertionError("the broker does not exit")

    def receive(self, message: Message, version: int = 0) -> list[Effect]:
        self._requests += 1
        event = Received(
            request=self._requests,
            message=message,
            version=version,
            on_controller_listener=False,
            principal=ALICE,
            client_host="10.0.0.1",
        )
        self.broker.receive(event, self.now)
        return self.advance()

    def ask(self, message: Message, version: int = 0) -> Message:
        """What the broker answers itself."""
        [effect] = self.receive(message, version)
        assert isinstance(effect, Reply)
        return effect.message


def exits(effects: list[Effect]) -> list[Exit]:
    return [effect for effect in effects if isinstance(effect, Exit)]
