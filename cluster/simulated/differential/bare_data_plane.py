"""A broker's data plane without shell, disk and quorum; a comparison plays their parts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import (
    Instant,
    Monotonic,
    NodeId,
    Offset,
    WallClock,
    milliseconds,
)
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.broker.data.data_plane import DataPlane
from kraftproof.node.core.effects import Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.types import Uuid

START_MS: Final = 1_700_000_000_000
"""The wall clock at the start, in milliseconds."""
FIRST_BROKER_EPOCH: Final = 10
"""The broker epoch of broker 0; the following brokers have the following epochs."""


class BareDataPlane(ABC):
    """A data plane with an outbox, an image and a clock; a subclass takes the effects."""

    def __init__(
        self,
        config: NodeConfig,
        image: MetadataImage,
        recovered: Sequence[RecoveredLog] = (),
        *,
        controller: Callable[[], NodeId],
        broker_epoch: Callable[[], int],
        now_ns: int = 0,
    ) -> None:
        self.now_ns = now_ns
        """The time since the start."""
        self._requests = 0
        self._outbox = Outbox()
        self._committed = CommittedImage()
        self._committed.image = image
        self._committed.offset = Offset(1)
        policy = config.authorizer
        authorizer = None if policy is None else Authorizer(policy, self._committed, self._outbox)
        self._data = DataPlane(
            config,
            self._committed,
            self._outbox,
            recovered,
            controller=controller,
            broker_epoch=broker_epoch,
            now=self._now,
            authorizer=authorizer,
            creator=AutoCreator(config, self._outbox, controller),
        )

    @property
    def _now(self) -> Instant:
        return Instant(Monotonic(self.now_ns), WallClock(milliseconds(START_MS) + self.now_ns))

    @property
    def time_ms(self) -> int:
        """The milliseconds since the start."""
        return self.now_ns // milliseconds(1)

    def write(self, *written: Record) -> None:
        """Commit records; the broker looks at the topics that the records name."""
        before = self._committed.image
        self._committed.image = image = apply_all(before, written)
        batch = Batch(base_offset=0, epoch=1, timestamp_ms=START_MS, records=written)
        self._committed.changed_topics.note(before, batch, image, image)
        self.advance()

    def ask(self, event: Received) -> int:
        """Send a request of a client; return the token of the request."""
        self._requests += 1
        self._data.receive(replace(event, request=self._requests), self._now)
        self.advance()
        return self._requests

    def ask_anonymously(self, message: Message, version: int) -> int:
        """Send a request of a client without a login; return the token of the request."""
        return self.ask(
            Received(
                request=0,
                message=message,
                version=version,
                on_controller_listener=False,
                principal=ANONYMOUS,
                client_host="127.0.0.1",
            )
        )

    def resume(self, correlation: int, message: Message | None) -> None:
        """Answer an open request of the broker; None for a lost answer."""
        self._outbox.resume(correlation, message, self._now)
        self.advance()

    def fail(self, directory: Uuid) -> None:
        """Let the disk of a log directory fail."""
        self._data.directory_failed(directory)
        self.advance()

    def pass_time(self, for_ms: int) -> None:
        """Let time pass, and let the broker act on its deadlines at the end."""
        self.now_ns += milliseconds(for_ms)
        self._data.tick(self._now)
        self.advance()

    def advance(self) -> None:
        """Let the broker act on the changes around it, and take its effects."""
        self._data.advance(self._now, follows_image=True)
        for effect in self._outbox.drain():
            self._execute(effect)

    @abstractmethod
    def _execute(self, effect: Effect) -> None:
        """Take an effect of the broker."""


def registered(broker: int, directories: tuple[Uuid, ...]) -> Record:
    """Return the registration of an unfenced broker with the usual epoch and endpoint."""
    endpoint = records.BrokerEndpoint(
        name="PLAINTEXT", host=f"b{broker}", port=9092, security_protocol=0
    )
    return records.RegisterBrokerRecord(
        broker_id=broker,
        incarnation_id=Uuid(bytes([broker]) * 16),
        broker_epoch=FIRST_BROKER_EPOCH + broker,
        end_points=(endpoint,),
        fenced=False,
        log_dirs=directories,
    )
