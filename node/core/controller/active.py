"""Decide requests on the newest image, and answer after the records have committed.

The active controller holds the image after its newest batch, committed or not, and decides each
request on this image. No client sees the result before the records have committed: a request with
records of its own is answered at their commit, another request at the read barrier (KIP-631
"Persistence"). See controller.py for the beginning and end of the role.
"""

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import AT_ONCE, Instant, Monotonic, NodeId, Offset, earliest
from kraftproof.node.core.controller.authorized import decide_metered
from kraftproof.node.core.controller.barrier import Answer, ReadBarrier
from kraftproof.node.core.controller.brokers import heartbeat, shutdown_granted
from kraftproof.node.core.controller.decisions import DECISIONS, DecisionContext
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.fencing import fence
from kraftproof.node.core.controller.refusals import not_controller, refusal
from kraftproof.node.core.controller.security.token_sweep import TokenSweep
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.controller.timed_request import TimedRequest
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP, RECORDS_AT_ONCE, PartlyApplied
from kraftproof.node.core.metadata.version import METADATA_VERSION, bootstrap_of, level_of
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.quotas.mutations import MutationQuotas
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, broker_heartbeat_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record, write_level

if TYPE_CHECKING:
    from random import Random


_NO_OP: Final = records.NoOpRecord()
_UNCOMMITTED: Final = "the change was not known to have committed within the request's time"
_UNCONFIRMED: Final = "no majority confirmed the controller within the request's time"
_UNDECIDED: Final = "a large change was being applied, and the request's time is up"


class Pending(Struct, frozen=True, kw_only=True):
    """An answer that is sent once the record at `offset` has committed."""

    offset: Offset
    request: TimedRequest
    reply: Message
    wrote: bool
    """Whether the record belongs to the request; a lost record then leaves the request's fate
    unknown."""


class ActiveController:
    """The active controller of one epoch."""

    def __init__(
        self,
        config: NodeConfig,
        raft: Raft,
        committed: CommittedImage,
        outbox: Outbox,
        *,
        random: "Random",
        now: Instant,
        authorizer: Authorizer | None = None,
    ) -> None:
        assert committed.offset == raft.log.end_offset, "a new leader's log has all committed"
        self._config = config
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._random = random
        self._authorizer = authorizer
        self._image = committed.newest
        """The image after the newest batch, committed or not; stale while `_applying` is set."""
        self._applying: PartlyApplied | None = None
        """The newest batch, if the batch is too large to be applied in one step."""
        self._waiting: deque[TimedRequest] = deque()
        """Requests that arrived meanwhile, in order; decided on the image after the large batch."""
        self._expired: deque[NodeId] = deque()
        """Brokers whose lease has expired and which are not fenced yet."""
        self._pending: deque[Pending] = deque()
        self._barrier = ReadBarrier()
        self._sessions = Sessions(config.timeouts.session_ns)
        self._token_sweep = TokenSweep(config.tokens, now)
        self._mutations = MutationQuotas(config.mutation_quotas)
        brokers = [each for each in self._image.sorted_brokers() if not shutdown_granted(each)]
        self._sessions.lease([each.broker_id for each in brokers], now)
        if committed.has_open_transaction:
            # The leader of the transaction is gone, and its further records are unknown (KIP-868).
            self._write((records.AbortTransactionRecord(reason="Controller failover"),), now)
        if METADATA_VERSION not in self._image.features:
            self._bootstrap(now)

    def _bootstrap(self, now: Instant) -> None:
        """Write the first records in one batch: the level proves that all are there."""
        level, others = bootstrap_of(self._config.bootstrap)
        self._write((level, *others), now, level.feature_level)

    def receive(self, request: TimedRequest, now: Instant) -> None:
        """Decide a request in its turn, and send or schedule the answer."""
        if self._applying is None and not self._waiting:
            self._register_answer(request, self._decide(request.event, now), now)
            return
        early = self._decide_early(request.event)
        if early is None:
            self._waiting.append(request)
        else:
            self._register_answer(request, early, now)

    def receive_all(self, requests: Sequence[TimedRequest], now: Instant) -> None:
        """Receive earlier requests in their order, as many at once as one step may handle."""
        most = self._raft.log.end_offset + RECORDS_A_STEP
        has_room = True
        for request in requests:
            if not has_room:
                self._waiting.append(request)
                continue
            self.receive(request, now)
            is_clients = DECISIONS[type(request.event.message)].is_forwarded
            has_room = not is_clients and self._raft.log.end_offset < most

    def _decide_early(self, event: Received) -> Outcome | None:
        """Decide a plain heartbeat before a large batch is fully applied.

        The records about brokers are the first records of a large batch, and are already applied.
        """
        message = event.message
        if not isinstance(message, broker_heartbeat_request.BrokerHeartbeatRequest):
            return None
        if self._authorizer is not None and not self._authorizer.allows_whole(event):
            return None  # refused in its turn
        image = self._image if self._applying is None else self._applying.image
        broker = image.brokers.get(NodeId(message.broker_id))
        if message.want_shut_down or (broker is not None and broker.in_controlled_shutdown):
            return None  # depends on the partitions that the broker still leads
        outcome = heartbeat(image, message)
        return None if outcome.records else outcome

    def _register_answer(self, request: TimedRequest, outcome: Outcome, now: Instant) -> None:
        if outcome.contact is not None:
            self._sessions.lease([outcome.contact], now)
        is_written = bool(outcome.records)
        if is_written or self._raft.is_only_voter:
            last = Offset(self._raft.log.end_offset - 1)
            offset = self._write(outcome.records, now) if is_written else last
            self._pending.append(
                Pending(offset=offset, request=request, reply=outcome.reply, wrote=is_written)
            )
        else:
            self._barrier.wait(Answer(request, outcome.reply))
            self._raise_barrier(now)

    def advance(self, now: Instant) -> None:
        """Answer the requests whose records have committed."""
        high_watermark = self._raft.high_watermark
        while self._pending and self._pending[0].offset < high_watermark:
            pending = self._pending.popleft()
            self._outbox.reply(pending.request.event, pending.reply)
        self._barrier.committed(high_watermark)
        self._raise_barrier(now)

    def tick(self, now: Instant) -> None:
        """Answer requests at their deadline.

        Continue a large batch, or else fence expired brokers.
        """
        self._expire(now)
        if self._applying is not None:
            self._apply_more(self._applying, RECORDS_A_STEP)
        elif self._waiting:
            request = self._waiting.popleft()
            self._register_answer(request, self._decide(request.event, now), now)
        else:
            if gone := self._token_sweep.take(self._image, now):
                self._write(gone, now)
            self._expired.extend(self._sessions.expire(now))
            self._fence_expired(now)

    def _fence_expired(self, now: Instant) -> None:
        """Fence brokers with an expired lease, in one batch if a step can apply the batch."""
        image = self._image
        written: list[Record] = []
        while self._expired and len(written) < RECORDS_A_STEP:
            broker = image.brokers.get(self._expired[0])
            is_over = broker is not None and not self._sessions.is_live(broker.broker_id, now)
            fencing = fence(image, broker) if broker and is_over and not broker.fenced else ()
            if written and len(written) + len(fencing) > RECORDS_A_STEP:
                break  # a batch of several steps concerns one broker: see _decide_early
            self._expired.popleft()
            written += fencing
            if self._expired and len(written) < RECORDS_A_STEP:
                # The next fencing needs the image after this fencing, since two brokers may share a
                # partition.
                image = apply_all(image, fencing)
        if written:
            self._write(tuple(written), now)

    def deadline(self) -> Monotonic | None:
        """Return the next expiry of a lease or a request; AT_ONCE if work is left."""
        if self._applying is not None or self._waiting or self._expired:
            return AT_ONCE
        return earliest(
            self._sessions.deadline(),
            self._barrier.deadline(),
            self._token_sweep.due,
            *[entry.request.expires for entry in self._pending],
        )

    def _expire(self, now: Instant) -> None:
        """Answer the requests at their deadline with an error.

        A written change may still commit.
        """
        for pending in [entry for entry in self._pending if entry.request.is_over(now)]:
            self._pending.remove(pending)
            self._time_out(pending.request, _UNCOMMITTED if pending.wrote else _UNCONFIRMED)
        for answer in self._barrier.expire(now):
            self._time_out(answer.request, _UNCONFIRMED)
        for request in [entry for entry in self._waiting if entry.is_over(now)]:
            self._waiting.remove(request)
            self._time_out(request, _UNDECIDED)

    def _time_out(self, request: TimedRequest, reason: str) -> None:
        event = request.event
        self._outbox.reply(event, refusal(event.message, ErrorCode.REQUEST_TIMED_OUT, reason))

    def resign(self) -> None:
        """Answer all waiting requests.

        A written change may still commit under another leader (631-13).
        """
        for pending in self._pending:
            if pending.wrote:
                reason = "leadership was lost before the change was known to have committed"
                self._time_out(pending.request, reason)
            else:
                self._refuse(pending.request)
        for answer in self._barrier.take():
            self._refuse(answer.request)
        for request in self._waiting:
            self._refuse(request)
        self._committed.discard()

    def _refuse(self, request: TimedRequest) -> None:
        self._outbox.reply(request.event, not_controller(request.event))

    def _decide(self, event: Received, now: Instant) -> Outcome:
        context = DecisionContext(
            image=self._image,
            config=self._config,
            random=self._random,
            next_offset=self._raft.log.end_offset,
            sessions=self._sessions,
            now=now,
            principal=event.principal,
            version=event.version,
        )
        return decide_metered(self._mutations, self._authorizer, event, context)

    def _write(self, written: tuple[Record, ...], now: Instant, level: int = 0) -> Offset:
        """Append a batch; the answers at the read barrier wait for its commit, too."""
        offset = self._raft.propose(written, now, write_level(level or level_of(self._image)))
        if self._applying is None:
            partly = PartlyApplied(batch=self._raft.log.last, applied=0, image=self._image)
            self._apply_more(
                partly, RECORDS_A_STEP if partly.fits(RECORDS_A_STEP) else RECORDS_AT_ONCE
            )
        else:
            assert written == (_NO_OP,), "changes wait for the batch before them"
        for answer in self._barrier.take():
            self._pending.append(
                Pending(offset=offset, request=answer.request, reply=answer.reply, wrote=False)
            )
        return offset

    def _apply_more(self, partly: PartlyApplied, most: int) -> None:
        """Apply a part of the newest batch; adopt the image once the batch is fully applied."""
        partly, _ = self._committed.apply_more(partly, most)
        end = Offset(partly.batch.next_offset)
        if partly.is_whole:
            self._applying = None
            self._image = partly.image
            self._committed.stage(end, self._raft.epoch, partly.image)
        else:
            self._applying = partly
            self._committed.expect(end, self._raft.epoch)

    def _raise_barrier(self, now: Instant) -> None:
        if self._barrier.needs_record():
            self._barrier.raised(self._write((_NO_OP,), now))
