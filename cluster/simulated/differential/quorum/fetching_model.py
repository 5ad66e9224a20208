"""State when a member of the quorum asks whom, and what it does with an answer (KIP-595, 630)."""

from typing import Final, NamedTuple

from msgspec import Struct

from kraftproof.cluster.simulated.differential.quorum.bare_member import Done
from kraftproof.cluster.simulated.differential.quorum.fetching_values import (
    Download,
    Name,
    Slice,
)
from kraftproof.node.core.base.config import Timeouts

NOBODY: Final = -1
MS: Final = 1_000_000
LONGEST_WAIT_MS: Final = 500
LARGEST_END: Final = 1 << 62
OTHER_CLUSTER: Final = 104
MOST_LOSSES: Final = 3


class Held(NamedTuple):
    """A batch of the log."""

    base: int
    end: int
    epoch: int


class Told(Struct, kw_only=True):
    """The content of an answer to a Fetch; -1 where it has none."""

    whole_error: int = 0
    error: int = 0
    leader: int
    epoch: int
    watermark: int = 0
    diverging: tuple[int, int] = (-1, -1)
    """The epoch and its end."""
    snapshot: Name = (-1, -1)
    batches: list[Held] = []


class FetchingModel:
    """A voter that follows, an observer, or either of them without a leader."""

    def __init__(self, own: int, voters: tuple[int, ...], times: Timeouts, now: int) -> None:
        self.own, self.voters, self.times = own, voters, times
        self.peers = tuple(voter for voter in voters if voter != own)
        self.is_voter = own in voters
        self.epoch, self.leader = 0, NOBODY
        self.start: Name = (0, 0)
        self.batches: list[Held] = []
        self.snapshots: list[Name] = []
        """The kept snapshots, oldest first."""
        self.watermark = self.flushed = self.generation = 0
        self.renewed = now
        """The last sign of life of the leader."""
        self.is_open = self.has_answered = self.is_lost = False
        self.asked = NOBODY
        self.sent_at = self.pause = now
        """`pause` is the end of the wait after the last answer."""
        self.failures = self.downloads = 0
        self.silent: dict[int, tuple[int, int]] = {}
        """The end of the wait for each silent voter, and the number of its failures."""
        self.download: Download | None = None
        self.effects: list[Done] = []

    @property
    def end(self) -> int:
        """The end of the log."""
        return self.batches[-1].end if self.batches else self.start[0]

    @property
    def snapshot_end(self) -> int:
        """The end of the newest snapshot; 0 without a snapshot."""
        return self.snapshots[-1][0] if self.snapshots else 0

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; 0 without a record."""
        return self.batches[-1].epoch if self.batches else self.start[1]

    @property
    def is_downloading(self) -> bool:
        """Whether slices are due or under way."""
        return self.download is not None and not self.download.is_checked

    def due(self) -> int | None:
        """Return the time of the next request; None if an event has to come first."""
        if self.is_open:
            return None
        if self.download is not None and not self.download.is_checked:
            return None if self.download.is_open else self.download.due
        if self.is_voter and self.flushed != self.end:
            return None
        return max(self.pause, min(self.silent.get(peer, (0, 0))[0] for peer in self.peers))

    def targets(self, now: int) -> tuple[int, ...]:
        """Return the voters that the next Fetch may go to."""
        free = [peer for peer in self.peers if self.silent.get(peer, (0, 0))[0] <= now]
        if self.leader in free and not self.is_lost:
            return (self.leader,)
        return tuple(peer for peer in free if peer != self.asked) or tuple(free)

    def wait_ms(self) -> int:
        """Return how long the leader may keep a Fetch; the first is answered at once."""
        return min(LONGEST_WAIT_MS, self.times.fetch_ns // MS // 2) if self.has_answered else 0

    def patience(self, peer: int) -> int:
        """Return the time-out of a Fetch."""
        own = self.times.fetch_ns if peer == self.leader else self.times.election_ns
        return min(self.times.request_ns, own)

    def sends(self, target: int, now: int) -> None:
        """Note that a Fetch, or a FetchSnapshot, is sent."""
        if self.download is not None and not self.download.is_checked:
            self.download.is_open = True
            return
        self.is_open, self.asked, self.sent_at = True, target, now

    def learn(self, epoch: int, leader: int, now: int) -> bool:
        """Take an epoch and a leader from an answer; return whether they are news."""
        is_newer = epoch > self.epoch
        is_found = epoch == self.epoch and self.leader == NOBODY != leader
        if leader not in (NOBODY, *self.voters) or not (is_newer or is_found):
            return False
        self.epoch, self.leader, self.renewed = epoch, leader, now
        self.effects.append(("quorum-state", epoch, -1, leader))
        self.is_open = self.is_lost = self.has_answered = False
        self.failures, self.pause, self.download = 0, now, None
        self.silent.pop(leader, None)
        if leader == NOBODY:
            self.ask_again(now)
        return True

    def ask_again(self, now: int) -> None:
        """Wait a little after an answer that was of no use."""
        self.has_answered = False
        self.failures += 1
        longest = self.times.retry_backoff_max_ns // 10
        self.pause = now + min(longest, self.backoff(self.failures))

    def backoff(self, times: int) -> int:
        """Return the wait after so many failures in a row."""
        wait = self.times.retry_backoff_ns
        for _ in range(times - 1):
            wait = min(2 * wait, self.times.retry_backoff_max_ns)
        return min(wait, self.times.retry_backoff_max_ns)

    def leave_alone(self, peer: int, now: int) -> None:
        """Leave a silent voter out for a while."""
        times = self.silent.get(peer, (0, 0))[1] + 1
        wait, patience = self.backoff(times), self.patience(peer)
        if now - self.sent_at >= patience:
            wait = max(wait, patience)
        self.silent[peer] = (now + wait, times)
        self.has_answered = False

    def fetched(self, told: Told | None, peer: int, now: int, *, is_current: bool) -> None:
        """Take the answer to a Fetch, or its loss."""
        if is_current:
            self.is_open = False
        if told is None:
            if is_current:
                self.leave_alone(peer, now)
        elif told.whole_error == OTHER_CLUSTER and told.leader == peer:
            self.effects.append(("exit", 1))
        elif told.whole_error:
            self.leave_alone(peer, now)
        else:
            self.silent.pop(peer, None)
            if self.learn(told.epoch, told.leader, now) or not is_current:
                return
            if told.error or peer != self.leader or told.epoch != self.epoch:
                self.is_lost = peer == self.leader or told.leader != self.leader
                self.ask_again(now)
            else:
                self._use(told, now)

    def _use(self, told: Told, now: int) -> None:
        """Use an answer of the leader."""
        self.failures, self.is_lost, self.has_answered = 0, False, True
        self.pause = self.renewed = now
        if min(told.diverging) >= 0:
            self._cut(*told.diverging, now)
        elif 0 < told.snapshot[0] < LARGEST_END and 0 <= told.snapshot[1] <= told.epoch:
            self._refer(told.snapshot, now)
        else:
            self._append(told, now)

    def _append(self, told: Told, now: int) -> None:
        for batch in told.batches:
            if batch.base != self.end or not self.last_epoch <= batch.epoch <= self.epoch:
                self.ask_again(now)
                return
            self.batches.append(batch)
            self.effects.append(("append", *batch))
        if told.batches and self.is_voter:
            self.effects.append(("flush", self.generation, self.end))
        self.watermark = max(self.watermark, min(told.watermark, self.end))

    def _cut(self, epoch: int, end: int, now: int) -> None:
        later = [batch.base for batch in self.batches if batch.epoch > epoch]
        common = min(end, later[0] if later else self.end)
        if epoch < self.start[1] and not self.batches:
            common = min(end, self.start[0])
        if common < self.watermark:
            self.effects.append(("exit", 1))
        elif common == self.end:
            self.ask_again(now)
        else:
            self.batches = [batch for batch in self.batches if batch.end <= common]
            self.generation += 1
            self.flushed = min(self.flushed, self.end)
            self.effects.append(("truncate", self.end))
            if self.flushed < self.end:
                self.effects.append(("flush", self.generation, self.end))

    def _refer(self, snapshot: Name, now: int) -> None:
        if self.download is not None:
            self.pause = now + self.times.fetch_ns // 4
        elif snapshot[0] < self.watermark:
            self.effects.append(("exit", 1))
        else:
            self.downloads += 1
            self.download = Download(number=self.downloads, snapshot=snapshot, due=now)

    def sliced(self, of: Download, part: Slice | None, now: int) -> None:
        """Take a slice, or its loss."""
        of.is_open = False
        if part is not None:
            self.learn(part.epoch, part.leader, now)
        if of is not self.download:
            return
        if part is None:
            of.losses += 1
            of.due = now + self.backoff(of.losses)
            if of.losses > MOST_LOSSES:
                self._give_up(now)
            return
        is_asked = part.snapshot == of.snapshot and part.position == of.position
        is_bounded = 0 < len(part.data) <= part.size - part.position
        if part.error or not is_asked or not is_bounded or of.size not in {None, part.size}:
            self._give_up(now)
            return
        self.effects.append(("slice", of.number, *of.snapshot, of.position, part.data))
        of.losses, of.due, of.size, self.renewed = 0, now, part.size, now
        of.position += len(part.data)
        if of.position == of.size:
            of.is_checked = True
            self.effects.append(("check", of.number, *of.snapshot))

    def written(self, snapshot: Name) -> None:
        """Keep a snapshot of this node and the one before it, and clean the log up to there."""
        if snapshot[0] > self.snapshot_end:
            self.snapshots = [*self.snapshots, snapshot][-2:]
        if len(self.snapshots) > 1:
            self.start = self.snapshots[0]
            self.batches = [batch for batch in self.batches if batch.base >= self.start[0]]
        self.effects.append(("clean", *self.start))

    def _give_up(self, now: int) -> None:
        self.download, self.is_lost = None, True
        self.ask_again(now)

    def checked(self, number: int, now: int, *, is_whole: bool, is_known: bool) -> None:
        """Take the result of a check of a downloaded snapshot."""
        of = self.download
        if of is None or of.number != number:
            return
        if of.snapshot[0] < self.watermark:
            self.download = None
        elif not is_known:
            self.effects.append(("exit", 1))
        elif not is_whole:
            self._give_up(now)
        else:
            self.download, self.is_open = None, False
            self.start, self.batches, self.snapshots = of.snapshot, [], [of.snapshot]
            self.watermark = self.flushed = self.end
            self.generation += 1
            self.pause = self.renewed = now
            self.effects.append(("install", number, *of.snapshot))
