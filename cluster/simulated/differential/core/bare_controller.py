"""A controller without a cluster: its log commits when a comparison says so."""

from random import Random
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import NodeConfig, Timeouts, TokenPolicy, Voter
from kraftproof.node.core.base.types import (
    Epoch,
    Instant,
    Monotonic,
    NodeId,
    Offset,
    WallClock,
)
from kraftproof.node.core.controller.controller import Controller
from kraftproof.node.core.effects import Reply
from kraftproof.node.core.events import Received
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch, Record, WriteLevel
from kraftproof.node.wire.records.control import LeaderChange

CLUSTER_ID: Final = "a-cluster-of-one-controller"
START_NS: Final = 1_767_225_600_000_000_000
NO_TOKENS: Final = TokenPolicy()
_OWN: Final = NodeId(1)


class QuorumOfOne:
    """The part of Raft that a controller needs: it appends at once, and commits on demand."""

    def __init__(self) -> None:
        self.log = Log()
        self.epoch = Epoch(0)
        self.leader = _OWN
        self.is_leader = False
        self.is_only_voter = False
        self.high_watermark = Offset(0)
        self.epoch_start_offset = Offset(0)

    def elect(self) -> None:
        """Lead the next epoch."""
        self.epoch = Epoch(self.epoch + 1)
        self.is_leader = True
        self.epoch_start_offset = self._append((LeaderChange(leader_id=_OWN),), is_control=True)

    def propose(
        self, written: tuple[Record, ...], now: Instant, level: WriteLevel | None = None
    ) -> Offset:
        """Append the records of the leader."""
        del now
        assert self.is_leader, "only a leader proposes"
        return self._append(written, level=level)

    def replicate(self, written: tuple[Record, ...]) -> None:
        """Append records that another leader has written."""
        self._append(written)

    def resign(self) -> None:
        """Follow a leader of the next epoch."""
        self.epoch = Epoch(self.epoch + 1)
        self.is_leader = False

    def _append(
        self,
        written: tuple[Record, ...],
        *,
        is_control: bool = False,
        level: WriteLevel | None = None,
    ) -> Offset:
        batch = Batch(
            base_offset=self.log.end_offset,
            epoch=self.epoch,
            timestamp_ms=0,
            is_control=is_control,
            records=written,
            level=level,
        )
        self.log.append(batch)
        return Offset(batch.last_offset)


class BareController:
    """The active controller of an empty cluster, and its clocks."""

    def __init__(self, random: Random, timeouts: Timeouts, tokens: TokenPolicy = NO_TOKENS) -> None:
        self.now_ns = 0
        self._wall_ahead_ns = START_NS
        config = NodeConfig(
            node_id=_OWN,
            cluster_id=CLUSTER_ID,
            is_controller=True,
            is_broker=False,
            voters=(Voter(node_id=_OWN, host="h", port=1),),
            endpoints=(),
            timeouts=timeouts,
            tokens=tokens,
        )
        self._quorum = QuorumOfOne()
        self._quorum.elect()
        self._committed = CommittedImage()
        self._outbox = Outbox()
        self._controller = Controller(
            config, cast("Any", self._quorum), self._committed, self._outbox, random
        )
        self._requests = 0
        self.unanswered: set[int] = set()
        """The requests without an answer, by number."""
        self._seen = Offset(0)
        self._answers: list[Reply] = []
        self.commit()
        self.commit()

    @property
    def wall_ns(self) -> int:
        """The wall clock in nanoseconds since 1970."""
        return self._wall_ahead_ns + self.now_ns

    def set_wall_clock(self, by_ns: int) -> None:
        """Move the wall clock, and not the monotonic clock."""
        self._wall_ahead_ns += by_ns

    @property
    def _now(self) -> Instant:
        return Instant(Monotonic(self.now_ns), WallClock(self.wall_ns))

    @property
    def deadline(self) -> Monotonic | None:
        """The time of the next tick."""
        return self._controller.deadline()

    @property
    def quorum(self) -> QuorumOfOne:
        """The quorum, to elect and to replace its leader."""
        return self._quorum

    def ask(self, message: Message, version: int) -> int:
        """Send a request, and return its number."""
        self._requests += 1
        self.unanswered.add(self._requests)
        event = Received(
            request=self._requests,
            message=message,
            version=version,
            on_controller_listener=True,
            principal=ANONYMOUS,
            client_host="client",
        )
        self._controller.receive(event, self._now)
        self._advance()
        return self._requests

    def tick(self) -> None:
        """Let the controller act on its deadlines."""
        self._controller.tick(self._now)
        self._advance()

    def fail_over(self) -> None:
        """Lose the leadership, and lead the next epoch with all that was written."""
        self._quorum.is_leader = False
        self._advance()
        same("requests that a former leader leaves open", sorted(self.unanswered), [])
        self._quorum.elect()
        self.commit()
        self.commit()

    def commit(self, *, but_last: bool = False) -> None:
        """Commit the whole log, or all but the last batch."""
        log = self._quorum.log
        end = Offset(log.last.base_offset) if but_last else log.end_offset
        self._quorum.high_watermark = max(self._quorum.high_watermark, end)
        self._advance()

    def answered(self) -> list[Reply]:
        """Return the answers since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def taken(self) -> list[tuple[int, Record]]:
        """Return the records since the last call, with their offsets."""
        batches = self._quorum.log.read(self._seen, 1 << 40)
        self._seen = self._quorum.log.end_offset
        return [
            (batch.base_offset + place, record)
            for batch in batches
            for place, record in enumerate(batch.records)
        ]

    def _advance(self) -> None:
        self._committed.advance(self._quorum.log, self._quorum.high_watermark)
        while self._committed.is_behind:
            self._committed.advance(self._quorum.log, self._quorum.high_watermark)
        self._controller.advance(self._now)
        for effect in self._outbox.drain():
            if isinstance(effect, Reply):
                check("a request is answered once", effect.request in self.unanswered)
                self.unanswered.remove(effect.request)
                self._answers.append(effect)
