"""State how a leader answers Fetch and FetchSnapshot, and what it commits (KIP-595, KIP-630)."""

from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.quorum.bare_member import Done
from kraftproof.cluster.simulated.differential.quorum.fetching_model import (
    LONGEST_WAIT_MS,
    MS,
    NOBODY,
    Held,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_values import Name
from kraftproof.node.wire.errors import ErrorCode

RECORD_BYTES: Final = 128
KEPT: Final = 2
KEPT_FOR_DOWNLOAD: Final = 10


class Progress(Struct, kw_only=True):
    """What the leader knows of a replica."""

    contact: int
    acknowledged: int = -1
    fetched_ms: int = -1
    caught_up_ms: int = -1


class Fetch(Struct, kw_only=True):
    """A Fetch of the metadata log."""

    request: int
    version: int
    replica: int
    epoch: int
    offset: int
    last_epoch: int
    watermark: int
    most_bytes: int
    wait_ms: int
    due: int = 0


class SliceOf(Struct, kw_only=True):
    """A FetchSnapshot."""

    request: int
    replica: int
    epoch: int
    snapshot: Name
    position: int
    most_bytes: int


class Given(Struct, kw_only=True):
    """The content of the answer to a Fetch, beside what each answer has."""

    error: ErrorCode = ErrorCode.NONE
    whole_error: ErrorCode = ErrorCode.NONE
    diverging: tuple[int, int] = (-1, -1)
    snapshot: Name = (-1, -1)
    batches: list[Held] = []


class ServingModel:
    """A leader, and the same node after its resignation."""

    def __init__(self, own: int, voters: tuple[int, ...], fetch_ns: int, now: int) -> None:
        self.own, self.voters, self.fetch_ns = own, voters, fetch_ns
        self.epoch = self.opened = self.watermark = self.flushed = self.generation = 0
        """`opened` is the offset of the first record of the epoch."""
        self.is_leader = True
        self.start: Name = (0, 0)
        self.batches: list[Held] = []
        self.snapshots: list[tuple[Name, int]] = []
        self.replicas = {peer: Progress(contact=now) for peer in voters if peer != own}
        self.observers: dict[int, Progress] = {}
        self.until = now + fetch_ns
        """The end of the time in which a majority has been in contact."""
        self.waiting: dict[int, Fetch] = {}
        self.served: tuple[Name, int, int] | None = None
        """The snapshot that a replica downloads, the last position, and the end of the wait."""
        self.answers: list[tuple[Fetch, Given]] = []
        self.effects: list[Done] = []

    @property
    def end(self) -> int:
        """The end of the log."""
        return self.batches[-1].end if self.batches else self.start[0]

    @property
    def stated(self) -> int:
        """The high watermark in answers; a new leader states none before its first commit."""
        return -1 if self.is_leader and self.watermark <= self.opened else self.watermark

    @property
    def leader(self) -> int:
        """The leader in answers."""
        return self.own if self.is_leader else NOBODY

    def refusal(self, replica: int, epoch: int) -> ErrorCode:
        """Return the error of a request by its epoch."""
        is_named = replica != NOBODY or epoch >= 0
        if is_named and epoch != self.epoch:
            is_older = epoch < self.epoch
            return ErrorCode.FENCED_LEADER_EPOCH if is_older else ErrorCode.UNKNOWN_LEADER_EPOCH
        return ErrorCode.NONE if self.is_leader else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def fetch(self, asked: Fetch, now: int, now_ms: int) -> None:
        """Take a Fetch that names the log."""
        is_replica = asked.replica != NOBODY
        if is_replica and min(asked.epoch, asked.offset, asked.last_epoch) < 0:
            self._give(asked, Given(error=ErrorCode.INVALID_REQUEST))
        elif error := self.refusal(asked.replica, asked.epoch):
            self._give(asked, Given(error=error))
        elif is_replica:
            self._replicate(asked, now, now_ms)
        elif self.start[0] <= asked.offset <= self.end:
            read = [batch for batch in self._read(asked) if batch.end <= self.watermark]
            self._give(asked, Given(batches=read))
        else:
            self._give(asked, Given(error=ErrorCode.OFFSET_OUT_OF_RANGE))

    def _replicate(self, asked: Fetch, now: int, now_ms: int) -> None:
        progress = self._progress(asked.replica, now)
        progress.contact, progress.fetched_ms = now, now_ms
        before = self.waiting.pop(asked.replica, None)
        if before is not None:
            self._give_records(before)
        epoch, end = self._end_of(asked.last_epoch)
        if self._needs_snapshot(asked):
            self._give(asked, Given(snapshot=self.snapshots[-1][0]))
        elif epoch != asked.last_epoch or asked.offset > end:
            self._give(asked, Given(diverging=(epoch, end)))
        else:
            progress.acknowledged = asked.offset
            if asked.offset >= self.end:
                progress.caught_up_ms = now_ms
            self.commit()
            asked.due = now + min(max(asked.wait_ms, 0), LONGEST_WAIT_MS) * MS
            self.waiting[asked.replica] = asked

    def _progress(self, replica: int, now: int) -> Progress:
        if replica in self.replicas:
            return self.replicas[replica]
        return self.observers.setdefault(replica, Progress(contact=now))

    def _needs_snapshot(self, asked: Fetch) -> bool:
        end, epoch = self.start
        if self.start == (0, 0):
            return False
        is_other = asked.offset == end and asked.last_epoch != epoch
        return asked.offset < end or asked.last_epoch < epoch or is_other

    def _end_of(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to `epoch` with records, and its end."""
        first = [self.start[1]] if self.start != (0, 0) else []
        known = [e for e in (*first, *(batch.epoch for batch in self.batches)) if e <= epoch]
        if not known:
            return 0, self.start[0]
        later = [batch.base for batch in self.batches if batch.epoch > max(known)]
        return max(known), later[0] if later else self.end

    def _read(self, asked: Fetch) -> list[Held]:
        """Return whole batches of an epoch from the one with the offset, at least one."""
        rest = [batch for batch in self.batches if batch.end > asked.offset]
        found: list[Held] = []
        size = 0
        for batch in rest:
            size += (batch.end - batch.base) * RECORD_BYTES
            if batch.epoch != rest[0].epoch or (found and size > asked.most_bytes):
                break
            found.append(batch)
        return found

    def commit(self) -> None:
        """Raise the high watermark to what a majority has flushed, from the own epoch on."""
        flushed = [self.flushed, *(one.acknowledged for one in self.replicas.values())]
        reached = sorted(flushed, reverse=True)[len(self.voters) // 2]
        if self.is_leader and reached > self.opened:
            self.watermark = max(self.watermark, reached)

    def check_majority(self, now: int) -> None:
        """Resign if no majority has been in contact for the fetch time-out."""
        if not self.is_leader or not self.replicas or now < self.until:
            return
        contacts = sorted((one.contact for one in self.replicas.values()), reverse=True)
        self.until = contacts[len(self.voters) // 2 - 1] + self.fetch_ns
        self.is_leader = now < self.until

    def settle(self, now: int) -> None:
        """Answer the waiting Fetches with news, and those whose time is over."""
        for asked in [*self.waiting.values()]:
            ready = self.end if asked.replica in self.voters else self.watermark
            has_news = asked.offset < ready or asked.watermark < self.stated
            if has_news or asked.due <= now or not self.is_leader:
                del self.waiting[asked.replica]
                self._give_records(asked)

    def _give_records(self, asked: Fetch) -> None:
        if not self.is_leader:
            self._give(asked, Given(error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif self._needs_snapshot(asked):
            self._give(asked, Given(snapshot=self.snapshots[-1][0]))
        else:
            self._give(asked, Given(batches=self._read(asked)))

    def _give(self, asked: Fetch, given: Given) -> None:
        self.answers.append((asked, given))

    def slice(self, asked: SliceOf, now: int) -> tuple[ErrorCode, int]:
        """Take a FetchSnapshot; return the error, and the size in the answer."""
        error = self.refusal(own_or(asked.replica), asked.epoch)
        if error:
            return error, 0
        if asked.replica != NOBODY:
            self._progress(asked.replica, now).contact = now
        size = dict(self.snapshots).get(asked.snapshot)
        if size is None:
            return ErrorCode.SNAPSHOT_NOT_FOUND, 0
        if not 0 <= asked.position < size:
            return ErrorCode.POSITION_OUT_OF_RANGE, size
        self._follow(asked, now)
        return ErrorCode.NONE, size

    def _follow(self, asked: SliceOf, now: int) -> None:
        """Keep the snapshot of a download that goes on; one download at a time."""
        new = (asked.snapshot, asked.position, now + self.fetch_ns)
        if self.served is None:
            self.served = new
        elif self.served[0] == asked.snapshot:
            self.served = max(self.served, new, key=lambda one: one[1])
        elif now >= self.served[2]:
            self.served = new

    def snapshot(self, of: Name, size: int, now: int) -> None:
        """Take a snapshot that the node has written."""
        if not self.snapshots or of[0] > self.snapshots[-1][0][0]:
            self.snapshots.append((of, size))
            kept = KEPT
            if self.served is not None and now < self.served[2]:
                since = sum(name >= self.served[0] for name, _ in self.snapshots)
                kept = max(KEPT, min(since, KEPT_FOR_DOWNLOAD))
            self.snapshots = self.snapshots[-kept:]
        if len(self.snapshots) >= KEPT:
            self.start = self.snapshots[0][0]
            self.batches = [batch for batch in self.batches if batch.base >= self.start[0]]
        self.effects.append(("clean", *self.start))


def own_or(replica: int) -> int:
    """Return the replica of a FetchSnapshot for its fencing, which has no debugging consumers."""
    return 0 if replica == NOBODY else replica
