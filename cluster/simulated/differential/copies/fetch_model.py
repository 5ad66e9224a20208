"""State when a broker fetches which of its partitions, and what an answer does to each of them."""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.config import ReplicationPolicy

MS: Final = 1_000_000
NOBODY: Final = -1
NOTHING: Final = -1
OUT_OF_RANGE: Final = 1
FIRST_BACKOFF: Final = 50 * MS
LATEST, EARLIEST = -1, -2
Key = tuple[int, int]
"""The number of the topic and of the partition."""


class Stored(Struct, frozen=True):
    """A batch of the follower's log."""

    base: int
    end: int
    epoch: int
    data: bytes


class Part(Struct, kw_only=True):
    """What an answer to a Fetch says about a partition; -1 where it says nothing."""

    key: Key
    error: int = 0
    watermark: int = 0
    diverging: tuple[int, int] = (NOTHING, NOTHING)
    batches: tuple[Stored, ...] = ()
    is_damaged: bool = False
    """Whether the last batch is damaged."""


class Role(Struct):
    """A follower's part in one leader epoch; another epoch begins another."""

    leader: int
    epoch: int
    due: int
    failures: int = 0
    is_searching: bool = False


class Copy(Struct, kw_only=True):
    """A partition that the broker copies."""

    key: Key
    epoch: int
    role: Role | None = None
    batches: list[Stored] = []
    start: int = 0
    watermark: int = 0
    flushed: int = 0
    flush_asked: int = 0
    """The end of the newest flush that was asked for since the last cut."""
    flushes: list[tuple[int, int]] = []
    """The flushes under way: the number of cuts before each, and its end."""
    cuts: int = 0
    """How often the log was cut or begun again."""
    changes: list[tuple[str, int]] = []
    """The cuts and new begins of the step."""
    flushes_each: bool = False

    @property
    def end(self) -> int:
        """The end of the log."""
        return self.batches[-1].end if self.batches else self.start

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; -1 without a record."""
        return self.batches[-1].epoch if self.batches else NOTHING

    def due(self) -> int | None:
        """Return the time of the next Fetch; None if an event has to come first."""
        if self.role is None or self.role.is_searching:
            return None
        return None if self.flushes_each and self.flushed < self.end else self.role.due

    def cut(self, offset: int) -> None:
        """Remove the records from an offset on, which is the begin of a batch."""
        self.batches = [batch for batch in self.batches if batch.end <= offset]
        self.flushed = min(self.flushed, self.end)
        self.flush_asked = self.flushed
        self.watermark = min(self.watermark, self.end)
        self.cuts += 1
        self.changes.append(("cut", self.end))
        self.ask_for_flush()

    def ask_for_flush(self) -> None:
        """Ask for a flush of the whole log, if the topic flushes each batch."""
        if self.flushes_each and self.flush_asked < self.end:
            self.flush_asked = self.end
            self.flushes = [*self.flushes, (self.cuts, self.end)]

    def flush(self) -> None:
        """Take the end of the oldest flush, which says nothing of a log that was cut since."""
        (cuts, end), self.flushes = self.flushes[0], self.flushes[1:]
        if cuts == self.cuts:
            self.flushed = max(self.flushed, end)

    def begin_at(self, offset: int) -> None:
        """Begin an empty log."""
        self.batches, self.start, self.watermark = [], offset, offset
        self.flushed = self.flush_asked = offset
        self.cuts += 1
        self.changes.append(("begin", offset))


class Asked(Struct):
    """A partition as it was at a request about it."""

    role: Role
    end: int
    cuts: int


class Wanted(Struct):
    """A request that the broker has to send."""

    leader: int
    keys: tuple[Key, ...]
    timestamp: int | None = None
    """The time of a ListOffsets; None for a Fetch."""


class Lane(Struct):
    """The Fetches to one leader: one at a time."""

    is_open: bool = False
    pause: int = 0
    """The end of the wait after a failed Fetch."""


class FetchModel:
    """The copies of a broker, by partition, and the Fetches to each leader."""

    def __init__(self, policy: ReplicationPolicy, copies: list[Copy]) -> None:
        self._backoff = policy.fetch_backoff_ns
        self.copies = {copy.key: copy for copy in sorted(copies, key=lambda one: one.key)}
        self.lanes: dict[int, Lane] = {}
        self.wanted: list[Wanted] = []
        """The requests of the step."""

    def follow(self, key: Key, leader: int, epoch: int, now: int) -> None:
        """Follow the leader of a newer epoch."""
        copy = self.copies[key]
        copy.epoch = epoch
        copy.role = None if leader == NOBODY else Role(leader, epoch, now)
        if leader != NOBODY:
            self.lanes.setdefault(leader, Lane())

    def _ready(self, leader: int) -> list[tuple[int, Copy]]:
        own = [copy for copy in self.copies.values() if copy.role and copy.role.leader == leader]
        return [(due, copy) for copy in own if (due := copy.due()) is not None]

    def due(self) -> int | None:
        """Return the time of the next Fetch without an event."""
        times = []
        for leader, lane in self.lanes.items():
            ready = self._ready(leader)
            if ready and not lane.is_open:
                times.append(max(lane.pause, min(due for due, _ in ready)))
        return min(times, default=None)

    def settle(self, now: int) -> None:
        """Fetch every ready partition of a leader without an open Fetch."""
        for leader, lane in sorted(self.lanes.items()):
            keys = tuple(copy.key for due, copy in self._ready(leader) if due <= now)
            if keys and not lane.is_open and lane.pause <= now:
                lane.is_open = True
                self.wanted.append(Wanted(leader, keys))

    def asked(self, key: Key) -> Asked:
        """Return the state of a partition, at a request."""
        copy = self.copies[key]
        assert copy.role is not None, "a partition without a leader is in no request"
        return Asked(copy.role, copy.end, copy.cuts)

    def failed(self, leader: int, now: int) -> None:
        """Take the loss of a Fetch, or its refusal as a whole."""
        self.lanes[leader].is_open = False
        self.lanes[leader].pause = now + self._backoff

    def fetched(
        self, leader: int, asked: dict[Key, Asked], parts: tuple[Part, ...], now: int
    ) -> None:
        """Take the answer to a Fetch; a part about another state of its partition has no use."""
        self.lanes[leader].is_open = False
        for part in parts:
            copy, state = self.copies.get(part.key), asked.get(part.key)
            if copy is None or state is None or state.role is not copy.role:
                continue
            if (state.end, state.cuts) == (copy.end, copy.cuts):
                self._take(copy, state.role, part, now)

    def _take(self, copy: Copy, role: Role, part: Part, now: int) -> None:
        if part.error == OUT_OF_RANGE:
            role.is_searching = True
            self.wanted.append(Wanted(role.leader, (copy.key,), LATEST))
        elif part.error:
            self._back_off(role, now)
        elif min(part.diverging) >= 0:
            epoch, end = part.diverging
            later = [batch.base for batch in copy.batches if batch.epoch > epoch]
            copy.cut(min(end, later[0] if later else copy.end))
        else:
            self._append(copy, role, part, now)

    def _append(self, copy: Copy, role: Role, part: Part, now: int) -> None:
        end, epoch = copy.end, copy.last_epoch
        for batch in part.batches:
            if batch.base != end or not epoch <= batch.epoch <= role.epoch:
                self._back_off(role, now)
                return
            end, epoch = batch.end, batch.epoch
        if part.is_damaged:
            self._back_off(role, now)
            return
        role.failures = 0
        for batch in part.batches:
            copy.batches = [*copy.batches, batch]
            copy.ask_for_flush()
        copy.watermark = max(copy.watermark, min(part.watermark, copy.end))

    def _back_off(self, role: Role, now: int) -> None:
        wait = FIRST_BACKOFF
        for _ in range(role.failures):
            wait = min(2 * wait, self._backoff)
        role.failures += 1
        role.due = now + min(wait, self._backoff)

    def found(self, key: Key, role: Role, timestamp: int, offset: int | None, now: int) -> None:
        """Take an end of the leader's log; None for an answer without it."""
        copy = self.copies[key]
        if copy.role is not role:
            return
        if offset is not None and timestamp == LATEST and offset >= copy.end:
            self.wanted.append(Wanted(role.leader, (key,), EARLIEST))
            return
        role.is_searching = False
        if offset is None:
            role.due = now + self._backoff
        elif timestamp == LATEST:
            if offset < copy.start:
                copy.begin_at(offset)
            else:
                ends = [batch.end for batch in copy.batches if batch.end <= offset]
                copy.cut(max((copy.start, *ends)))
        elif offset > copy.end:
            copy.begin_at(offset)
        else:
            role.due = now + self._backoff
