"""A broker's data plane for many partitions, without shell, disk and quorum."""

from typing import Final

from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import BareDataPlane
from kraftproof.cluster.simulated.differential.data.drawn_broker import (
    DIRECTORIES,
    LISTENERS,
    PORT,
    DrawnBroker,
    host,
)
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.node.core.base.config import Endpoint, NodeConfig, ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    Epoch,
    NodeId,
    Offset,
    milliseconds,
)
from kraftproof.node.core.effects import Effect, EndRequest, Reply, Send
from kraftproof.node.core.events import TimestampFound
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.log_effects import (
    CreateLog,
    FindTimestamp,
    LogRead,
    ReplyWithBatches,
    ReplyWithVolumes,
)
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.types import Uuid

PATHS: Final = ("/one", "/two")
CONTROLLER: Final = NodeId(100)
BROKER_EPOCH: Final = 10
_MOST_WAKINGS: Final = 500
POLICY: Final = ReplicationPolicy(is_enabled=True, lag_ns=milliseconds(1 << 40))
"""A follower is never late."""


class DataRig(BareDataPlane):
    """The data plane of a drawn broker; the caller plays clients, controller and files."""

    def __init__(
        self, image: MetadataImage, config: NodeConfig, recovered: tuple[RecoveredLog, ...] = ()
    ) -> None:
        self.answers: dict[int, Message] = {}
        self.ended: dict[int, EndRequest] = {}
        """The ends of requests without an answer."""
        self.reads: dict[int, tuple[LogRead, ...]] = {}
        """The ranges of records in the answers to Fetch."""
        self.searches: list[FindTimestamp] = []
        """The searches under way."""
        self.sent: list[Send] = []
        """The requests to controllers under way."""
        self.placed: dict[LogId, Uuid] = {}
        """The directory of each created log."""
        self.controller = CONTROLLER
        self.broker_epoch = BROKER_EPOCH
        super().__init__(
            config,
            image,
            recovered,
            controller=lambda: self.controller,
            broker_epoch=lambda: self.broker_epoch,
        )
        self.advance()

    def find(self, search: FindTimestamp, offset: int) -> None:
        """End a search with an offset; a negative offset is a failure of the disk."""
        self.searches.remove(search)
        self._data.timestamp_found(
            TimestampFound(
                token=search.token,
                offset=Offset(offset),
                timestamp_ms=offset,
                epoch=Epoch(offset),
                has_failed=offset < 0,
            )
        )
        self.advance()

    def answer(self, send: Send, message: Message | None) -> None:
        """Answer a request to the controller."""
        self.sent.remove(send)
        self.resume(send.correlation, message)

    @override
    def pass_time(self, for_ms: int) -> None:
        """Let time pass, and wake the broker at its deadlines, as the shell does.

        Raises:
            DifferenceError: the broker wants to be woken again and again without a result.
        """
        end_ns = self.now_ns + milliseconds(for_ms)
        for _ in range(_MOST_WAKINGS):
            due_ns = self._data.deadline()
            if due_ns is None or due_ns > end_ns:
                self.now_ns = end_ns
                return
            self.now_ns = max(self.now_ns, due_ns)
            self._data.tick(self._now)
            self.advance()
        raise DifferenceError(f"a broker has no end of deadlines at {self.now_ns} ns")

    @override
    def _execute(self, effect: Effect) -> None:
        match effect:
            case Reply(request=request, message=message):
                self.answers[request] = message
            case ReplyWithVolumes(request=request, message=described):
                self.answers[request] = described
            case ReplyWithBatches(request=request, message=fetched):
                self.answers[request] = fetched
                self.reads[request] = effect.reads
            case EndRequest(request=request):
                self.ended[request] = effect
            case FindTimestamp():
                self.searches.append(effect)
            case CreateLog(log=log, directory=directory):
                self.placed[log] = directory
            case Send(is_to_broker=False):
                self.sent.append(effect)
            case _:
                return


def config_of(broker: DrawnBroker, *, creates: bool) -> NodeConfig:
    """Return the configuration of a drawn broker, which creates missing internal topics or not."""
    endpoints = tuple(
        Endpoint(name=name, host=host(broker.own, name), port=PORT, is_controller=False)
        for name in LISTENERS
    )
    return replace(
        BARE_BROKER,
        node_id=NodeId(broker.own),
        endpoints=endpoints,
        log_dirs=DIRECTORIES,
        log_dir_paths=PATHS,
        replication=POLICY,
        authorizer=broker.policy,
        creates_internal_topics=creates,
    )
