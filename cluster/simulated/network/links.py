"""Directed links between simulated machines: delays, and messages withheld by cuts.

A cut link holds messages, as a sender's TCP does, and delivers them after the heal. If the
connection of a held message was closed in the meantime, the seed decides between delivery and
loss. Machine 0 is the harness; its links are never cut. See link_faults.py for losses and stalls.
"""

from collections.abc import Callable, Iterable
from math import log
from random import Random

from msgspec import Struct

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.network.failed_answers import FailedAnswers
from kraftproof.cluster.simulated.network.link_faults import HARNESS, LinkFaults

__all__ = ("HARNESS", "RETRANSMISSION_NS", "Delays", "Links", "Stream")

RETRANSMISSION_NS = 200_000_000
"""Longest delay between the heal and the retransmission of a withheld segment, in nanoseconds."""


class Stream:
    """One direction of a connection; messages arrive in the order of sending."""

    __slots__ = ("is_given_up", "last_arrival_ns", "link")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.last_arrival_ns = 0
        self.is_given_up = False


class Delays(Struct, frozen=True, kw_only=True):
    """Distribution of the message delays of one run."""

    base_ns: int
    mean_ns: int
    spike_share: float
    spike_ns: int

    @classmethod
    def draw(cls, random: Random) -> "Delays":
        """Draw the delays of a fast, an ordinary or a slow network."""
        return cls(
            base_ns=random.choice((50_000, 200_000, 500_000)),
            mean_ns=random.choice((50_000, 300_000, 1_000_000)),
            spike_share=random.choice((0.0, 0.002, 0.01)),
            spike_ns=random.choice((20_000_000, 100_000_000)),
        )

    def next_ns(self, random: Random) -> int:
        """Draw the delay of one message, in nanoseconds."""
        delay = self.base_ns + int(-log(1.0 - random.random()) * self.mean_ns)
        if self.spike_share and random.random() < self.spike_share:
            delay += int(random.random() * self.spike_ns)
        return delay


class Links:
    """Every link of a cluster."""

    __slots__ = (
        "_cuts",
        "_held",
        "_link_faults",
        "_random",
        "_scheduler",
        "_withheld",
        "delays",
        "failed_answers",
        "link_faults",
    )

    def __init__(self, scheduler: Scheduler, random: Random, link_faults: LinkFaults) -> None:
        self._scheduler = scheduler
        self._random = random
        self._link_faults = link_faults
        self.link_faults: LinkFaults | None = None if link_faults.is_empty else link_faults
        """The faults of links; None without faults, so that a run without faults is fast."""
        self.failed_answers: FailedAnswers | None = None
        """Changes answers between nodes; None in most runs."""
        self.delays = Delays.draw(random)
        self._cuts: set[Link] = set()  # asked for membership only
        self._withheld: dict[Link, int] = {}
        self._held: dict[Link, list[tuple[Stream, Callable[[], None]]]] = {}

    def now_ns(self) -> int:
        """Return true time, in nanoseconds since the start of the run."""
        return self._scheduler.now_ns

    def is_cut(self, link: Link) -> bool:
        """Return whether the link withholds messages."""
        return link in self._cuts

    def cut(self, link: Link) -> None:
        """Withhold messages from now on, including messages in flight."""
        if link not in self._cuts:
            self._cuts.add(link)
            self._withheld[link] = 0

    def heal(self, link: Link) -> None:
        """Deliver messages again; held messages arrive after a random retransmission delay."""
        self._cuts.discard(link)
        for stream, arrive in self._held.pop(link, []):
            if stream.is_given_up and self._random.random() < 0.5:
                continue
            self._carry(stream, arrive, int(self._random.random() * RETRANSMISSION_NS))

    def heal_all(self) -> None:
        """Heal every cut, and remove every link fault and failed answers."""
        self.failed_answers = None
        self._link_faults.clear()
        self.link_faults = None
        for link in sorted(self._cuts):
            self.heal(link)

    def add_fault(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Add a fault to links, in addition to present faults."""
        self._link_faults.add(links, link_fault)
        self.link_faults = self._link_faults

    def remove_fault(self, links: Iterable[Link], link_fault: LinkFault) -> None:
        """Undo one `add_fault`."""
        self._link_faults.remove(links, link_fault)
        if self._link_faults.is_empty:
            self.link_faults = None

    def fault_count(self, link: Link) -> int:
        """Return the number of messages lost, reset, stalled or slowed on a link."""
        return self._link_faults.hits[link]

    def withheld(self, link: Link) -> int:
        """Return the number of messages withheld since the last cut of the link."""
        return self._withheld.get(link, 0)

    def send(self, stream: Stream, arrive: Callable[[], None]) -> None:
        """Send one message over the link of a stream, in the order of the stream."""
        if self._cuts and stream.link in self._cuts:
            self._hold(stream, arrive)
        else:
            self._carry(stream, arrive, 0)

    def _carry(self, stream: Stream, arrive: Callable[[], None], extra_ns: int) -> None:
        due_ns = self._scheduler.now_ns + extra_ns + self.delays.next_ns(self._random)
        if self.link_faults is not None:
            due_ns += self.link_faults.delay_ns(stream.link)
        if due_ns < stream.last_arrival_ns:  # noqa: PLR1730 quicker than max()
            due_ns = stream.last_arrival_ns
        stream.last_arrival_ns = due_ns

        def arrived() -> None:
            if self._cuts and stream.link in self._cuts:
                self._hold(stream, arrive)
            else:
                arrive()

        self._scheduler.at(due_ns, arrived)

    def _hold(self, stream: Stream, arrive: Callable[[], None]) -> None:
        self._withheld[stream.link] += 1
        self._held.setdefault(stream.link, []).append((stream, arrive))
