"""State the roles of a voter, their deadlines and the repeated requests (KIP-595)."""

from typing import Final, NamedTuple

from msgspec import Struct

from kraftproof.cluster.simulated.differential.quorum.bare_member import Done
from kraftproof.cluster.simulated.differential.quorum.fetching_model import NOBODY, Held
from kraftproof.node.core.base.config import Timeouts

LAST_EPOCH: Final = (1 << 31) - 1
LEAST, ANY, MOST = range(3)
"""The chances of a step: each random wait is the shortest, any, or the longest."""


class Span(NamedTuple):
    """The earliest and the latest possible end of a random wait."""

    low: int
    high: int


class Repeated(Struct):
    """A request that is sent until it is answered."""

    due: int | None
    """None while an answer is awaited."""
    times: int = 0


class VoterState:
    """A member of the quorum and its roles; an observer takes part in no election."""

    def __init__(self, own: int, voters: tuple[int, ...], times: Timeouts) -> None:
        self.own, self.voters, self.times = own, voters, times
        self.peers = tuple(voter for voter in voters if voter != own)
        self.is_voter = own in voters
        self.epoch, self.voted, self.led_by = 0, NOBODY, NOBODY
        """`led_by` is the leader in the quorum state."""
        self.role, self.chances = "", ANY
        self.deadline: Span | None = None
        self.campaigns = 0
        """The candidacies since a leader was known."""
        self.granted: set[int] = set()
        self.refused: set[int] = set()
        self.repeated: dict[int, Repeated] = {}
        """Whom a candidate still asks, and whom a leader still tells."""
        self.contacts: dict[int, int] = {}
        self.acknowledged: dict[int, int] = {}
        self.fetch_timeout = 0
        self.is_deadline_fixed = self.is_stopping = False
        self.ends_open, self.stops_at = 0, 0
        self.batches: list[Held] = []
        self.elected: tuple[int, ...] | None = None
        """Who has voted for this node, in a step in which it becomes the leader."""
        self.effects: list[Done] = []

    @property
    def end(self) -> int:
        """The end of the log."""
        return self.batches[-1].end if self.batches else 0

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record."""
        return self.batches[-1].epoch if self.batches else 0

    @property
    def leader(self) -> int:
        """The leader in answers: never this node after its resignation."""
        is_former = self.led_by == self.own and self.role != "leader"
        return NOBODY if is_former else self.led_by

    # Random waits

    def _within(self, now: int, least: int, spread: int) -> Span:
        low, high = now + least, now + least + spread
        return Span(high if self.chances == MOST else low, low if self.chances == LEAST else high)

    def _election(self, now: int) -> Span:
        return self._within(now, self.times.election_ns, self.times.election_ns)

    def _pause(self, now: int) -> Span:
        """Return the pause after a lost election: the longest possible one doubles each time."""
        longest = self.times.election_backoff_max_ns // 4
        for _ in range(self.campaigns - 1):
            longest = min(2 * longest, self.times.election_backoff_max_ns)
        return self._within(now, 0, longest)

    def backoff(self, times: int) -> int:
        """Return the wait before a request is repeated."""
        wait = self.times.retry_backoff_ns
        for _ in range(times - 1):
            wait = min(2 * wait, self.times.retry_backoff_max_ns)
        return min(wait, self.times.retry_backoff_max_ns)

    # Changes

    def begin(self, now: int) -> None:
        """Begin with the quorum state of before the start."""
        if not self.is_voter:
            self.role = "observer"
            return
        self.deadline = self._election(now)
        if self.led_by == self.own:
            self.role = "resigned"
        else:
            self.role = "unattached" if self.voted == NOBODY else "voted"
        if not self.peers:
            self.campaign(now)

    def _keep(self, epoch: int, voted: int, led_by: int) -> None:
        """Change the quorum state, which is written before anything else happens."""
        if (epoch, voted, led_by) != (self.epoch, self.voted, self.led_by):
            self.effects.append(("quorum-state", epoch, voted, led_by))
        self.epoch, self.voted, self.led_by = epoch, voted, led_by

    def _become(self, role: str, deadline: Span | None) -> None:
        self.role, self.deadline, self.is_deadline_fixed = role, deadline, False

    def enter(self, epoch: int, leader: int, now: int) -> None:
        """Take over a newer epoch, or the leader of this epoch."""
        if not self.is_voter:
            self._keep(epoch, NOBODY, leader)
        elif leader == NOBODY:
            until, before = self._election(now), self.deadline
            if before is not None:
                until = Span(min(until.low, before.low), min(until.high, before.high))
            self._keep(epoch, NOBODY, NOBODY)
            self._become("unattached", until)
        elif leader == self.own:
            self._keep(epoch, self.own, self.own)
            self._become("resigned", self._election(now))
        else:
            self.campaigns, self.fetch_timeout = 0, 0
            self._keep(epoch, self.voted if epoch == self.epoch else NOBODY, leader)
            longest = self.times.election_backoff_max_ns // 2
            self._become("follower", self._within(now, self.times.fetch_ns, longest))

    def learn(self, epoch: int, leader: int, now: int) -> None:
        """Take the epoch and the leader that another node names."""
        if leader not in (NOBODY, *self.voters):
            return
        is_found = epoch == self.epoch and self.led_by == NOBODY and leader != NOBODY
        is_known = self.led_by == leader and self.role not in {"follower", "observer"}
        is_again = epoch == self.epoch and leader != NOBODY and is_known
        if epoch > self.epoch or (leader != self.own and (is_found or is_again)):
            self.enter(epoch, leader, now)

    def campaign(self, now: int) -> None:
        """Ask for votes in the next epoch; there is none after the last."""
        if self.epoch == LAST_EPOCH:
            return
        self.campaigns += 1
        self._keep(self.epoch + 1, self.own, NOBODY)
        self._become("candidate", self._election(now))
        self.granted, self.refused = {self.own}, set()
        self.repeated = {peer: Repeated(now) for peer in self.peers}
        self._count(now)

    def _count(self, now: int) -> None:
        if 2 * len(self.granted) > len(self.voters):
            self.campaigns = 0
            self._keep(self.epoch, self.own, self.own)
            self._become("leader", None)
            self.repeated = {peer: Repeated(now) for peer in self.peers}
            self.contacts = dict.fromkeys(self.peers, now)
            self.acknowledged = dict.fromkeys(self.peers, -1)
            self.elected = tuple(sorted(self.granted))
            self.append(1)
        elif 2 * len(self.refused) >= len(self.voters):
            self._become("voted", self._pause(now))

    def append(self, count: int) -> None:
        """Append records as the leader."""
        added = Held(self.end, self.end + count, self.epoch)
        self.batches.append(added)
        self.effects += [("append", *added), ("flush", 0, self.end)]

    # Time

    def can_campaign(self) -> bool:
        """Return whether time alone may change the role."""
        if self.is_stopping or self.deadline is None:
            return False
        return self.role == "candidate" or self.epoch < LAST_EPOCH

    def tick(self, now: int) -> None:
        """Act on the election deadline, which is known by now."""
        if not self.can_campaign() or self.deadline is None or now < self.deadline.low:
            return
        if self.role == "candidate":
            self._become("voted", self._pause(now))
        else:
            self.campaign(now)

    def majority_until(self) -> int | None:
        """Return the end of the leadership without further Fetches."""
        if self.role != "leader" or not self.peers:
            return None
        newest = sorted(self.contacts.values())
        others = len(self.voters) // 2
        return newest[-others] + self.times.fetch_ns

    def check_majority(self, now: int) -> None:
        """Resign when no majority fetches."""
        until = self.majority_until()
        if until is not None and now >= until:
            self._become("resigned", self._pause(now))

    def take_due(self, now: int) -> list[int]:
        """Return whom a request is sent to now."""
        due = []
        for peer, one in self.repeated.items():
            if self.role in {"candidate", "leader"} and one.due is not None and one.due <= now:
                one.due, one.times = None, one.times + 1
                due.append(peer)
        return due
